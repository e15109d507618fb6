//! The command line: which subcommand does what, and its help.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Command, Parser};
use clap_complete::Shell;
use slowburn_examples::cli::{self, Error, ScoreArgs, StoryArgs, TokensArgs};

use crate::chat::Chat;
use crate::merge::{Merge, merge};
use crate::models::{Models, models};
use crate::progress;

const NAME: &str = "slowburn";

const EXAMPLES: &str = "\
Examples:
  slowburn run \"Once upon a time\" --temperature 0.7
  slowburn chat --model hf:HuggingFaceTB/SmolLM2-135M-Instruct
  slowburn serve --port 8080 --kv-cache-bytes 1GiB
  slowburn score --logprobs 3 \"The frog sat on a stone wall.\"
  head -c 300 README.md | slowburn tokens -";

/// Continues a text
///
/// As the example 05_kv_cache does: with a KV cache, and with constraints and draft tokens, if asked.
#[derive(Parser)]
struct Run {
    #[command(flatten)]
    story: StoryArgs,
}

/// Says how likely a text is: its log-probability and perplexity
#[derive(Parser)]
struct Score {
    #[command(flatten)]
    score: ScoreArgs,
}

/// Cuts a text into tokens
#[derive(Parser)]
struct Tokens {
    #[command(flatten)]
    tokens: TokensArgs,
}

/// Prints what completes this command line in a shell
#[derive(Parser)]
struct Completions {
    /// The shell
    shell: Shell,
}

/// Prints the manual page, or writes that of each subcommand
#[derive(Parser)]
struct Man {
    /// Write the pages into this folder: slowburn.1, slowburn-run.1, ...
    folder: Option<PathBuf>,
}

/// The flags that `-h` shows of a subcommand, with a text that fits beside each. `--help` has them all.
type Short = &'static [(&'static str, &'static str)];

const OF_MODEL: Short = &[
    ("model", "A folder, a .gguf file, or hf:org/name"),
    ("device", "Where to compute, such as cuda"),
    ("quantize", "Store the weights in int8 or int4"),
];
const OF_SAMPLING: Short = &[
    ("temperature", "0 is greedy, higher more random"),
    ("top-k", "Choose among the K likeliest tokens"),
    ("top-p", "Choose among tokens of this probability"),
    ("seed", "The same seed gives the same text"),
];

const RUN: Short = &[
    ("max-tokens", "Stop after this many new tokens"),
    ("json", "Print one JSON object"),
];
const CHAT: Short = &[
    ("system", "The system message"),
    ("load", "Go on with a conversation of /save"),
    ("max-tokens", "The most tokens of an answer"),
];
const SERVE: Short = &[
    ("config", "A TOML file with settings"),
    ("host", "The address to listen on"),
    ("port", "The port; 0 takes a free one"),
    ("api-key", "The API keys of clients"),
    ("max-running", "The most sequences in a step"),
    ("max-tokens", "The most new tokens of a request"),
    ("kv-cache-bytes", "The most memory for keys and values"),
];
const SCORE: Short = &[
    ("logprobs", "Show each token, and the N likeliest"),
    ("json", "Print one JSON object"),
];
const TOKENS: Short = &[
    ("model", "A folder, a .gguf file, or hf:org/name"),
    ("json", "Print one JSON object"),
];

/// The whole command line.
pub fn command() -> Command {
    Command::new(NAME)
        .version(env!("CARGO_PKG_VERSION"))
        .about("A language model on this machine: stories, conversations, a server")
        .after_help("'slowburn COMMAND -h' shows the flags of a command, and --help all of them.")
        .after_long_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([
            cli::command::<Run>().name("run"),
            cli::command::<Chat>().name("chat"),
            serve_command(),
            cli::command::<Score>().name("score"),
            cli::command::<Tokens>().name("tokens"),
            cli::command::<Models>().name("models"),
            cli::command::<Merge>().name("merge"),
            cli::command::<Completions>().name("completions"),
            cli::command::<Man>().name("man"),
        ])
}

/// The program.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().collect();
    let name = arguments.get(1).and_then(|name| name.to_str()).unwrap_or_default();
    let line = Line::new(name, &arguments);
    match name {
        "run" => cli::exit(run(&line.read([RUN, OF_SAMPLING, OF_MODEL]))),
        "chat" => crate::chat::main(&line.read([CHAT, OF_SAMPLING, OF_MODEL])),
        "serve" => serve(line),
        "score" => cli::exit(score(&line.read([SCORE, OF_MODEL]))),
        "tokens" => {
            let Tokens { tokens } = line.read([TOKENS]);
            cli::exit(cli::tokens(&tokens))
        }
        "models" => models(&line.read([])),
        "merge" => cli::exit(merge(&line.read([]))),
        "completions" => {
            let Completions { shell } = line.read([]);
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), NAME, &mut script);
            cli::exit(print(&script))
        }
        "man" => cli::exit(man(&line.read([]))),
        // Help, the version, and what is none of these.
        _ => {
            let _ = command().get_matches_from(arguments);
            ExitCode::from(2)
        }
    }
}

/// The arguments of a subcommand.
struct Line {
    command: Command,
    arguments: Vec<OsString>,
}

impl Line {
    fn new(name: &str, arguments: &[OsString]) -> Self {
        let command = command();
        let program = OsString::from(format!("{NAME} {name}"));
        let rest = arguments.iter().skip(2).cloned();
        Self {
            command: command.find_subcommand(name).cloned().unwrap_or_default(),
            arguments: [program].into_iter().chain(rest).collect(),
        }
    }

    /// The command, and with `-h` only these of its flags.
    fn shortened<const N: usize>(self, shown: [Short; N]) -> Self {
        let before_dashes = self.arguments.iter().take_while(|argument| *argument != "--");
        if before_dashes.clone().all(|argument| argument != "-h") || shown.is_empty() {
            return self;
        }
        let text = |flag: &str| {
            let all = shown.iter().copied().flatten();
            all.copied().find(|(name, _)| *name == flag).map(|(_, text)| text)
        };
        let command = self.command.mut_args(|arg| match arg.get_long() {
            None | Some("help") => arg,
            Some(flag) => match text(flag) {
                Some(text) => arg.help(text).hide_possible_values(true).hide_env(true),
                None => arg.hide(true),
            },
        });
        Self { command, ..self }
    }

    /// Reads the arguments, or ends the program.
    fn read<C: Parser, const N: usize>(self, shown: [Short; N]) -> C {
        let Self { command, arguments } = self.shortened(shown);
        cli::parse_as(command, arguments).unwrap_or_else(|error| error.exit())
    }
}

fn run(Run { story }: &Run) -> cli::Result<()> {
    let loaded = progress::while_loading(|| story.generate.load())?;
    cli::story(story, loaded)
}

fn score(Score { score }: &Score) -> cli::Result<()> {
    let (pretrained, _) = progress::while_loading(|| score.model.load())?;
    cli::score_text(score, &pretrained)
}

fn man(Man { folder }: &Man) -> cli::Result<()> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command()).render(&mut page).map_err(Error::Output)?;
        return print(&page);
    };
    let failed = |source| Error::Write { path: folder.clone(), source };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command(), folder).map_err(failed)
}

fn print(bytes: &[u8]) -> cli::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(Error::Output)
}

#[cfg(feature = "serve")]
fn serve_command() -> Command {
    slowburn_server::command().name("serve")
}

#[cfg(feature = "serve")]
fn serve(line: Line) -> ExitCode {
    use slowburn_server::{Settings, start_log};

    let Line { command, arguments } = line.shortened([SERVE, OF_MODEL]);
    let settings = Settings::load_as(command, arguments).unwrap_or_else(|error| error.exit());
    start_log(&settings);
    match slowburn_server::serve(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            slowburn_flags::note(&format!("error: {error}\n"));
            ExitCode::from(error.exit_code())
        }
    }
}

#[cfg(not(feature = "serve"))]
fn serve_command() -> Command {
    Command::new("serve").about("Serves a model over HTTP (not in this build)")
}

#[cfg(not(feature = "serve"))]
fn serve(_: Line) -> ExitCode {
    let _ = SERVE;
    slowburn_flags::note(
        "error: this program was built without its server: build it with `cargo install --path cli --features full`, or here with `cargo run --features serve -- serve`\n",
    );
    ExitCode::from(2)
}
