//! The command line of an example, in which a prompt needs no flag.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read};

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Args, Command, CommandFactory, Id, Parser};
use slowburn::outside::in_words;

use super::{ChatArgs, ConstraintArgs, ModelArgs, SamplingArgs, SpeculateArgs};

/// The name of the arguments without a flag.
const WORDS: &str = "words without a flag";

/// The most bytes that are read of standard input.
const MOST_READ: u64 = 64 << 20;

/// Reads the command line. Words without a flag are a prompt: all of them together, or each by itself
/// where there may be several prompts. A wrong command line, or one that asks for help, ends the program.
pub fn parse<C: Parser>() -> C {
    parse_as(command::<C>(), env::args_os()).unwrap_or_else(|error| error.exit())
}

/// The command line of a program: its flags, each under its heading, and the words without a flag, if it
/// has a prompt.
pub fn command<C: CommandFactory>() -> Command {
    let command = with_headings(C::command());
    match prompt_of(&command) {
        None => command,
        Some(prompt) => {
            let several = is_several(prompt);
            with_words(command, several)
        }
    }
}

/// As [`parse`], of a [`command`] that may have been changed, and other arguments: the first is the
/// name of the program. The word `-` is what standard input holds.
///
/// # Errors
/// A wrong command line, or one that asks for help; standard input that cannot be read.
pub fn parse_as<C: Parser>(
    command: Command,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<C, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let matches = command.clone().try_get_matches_from(&arguments)?;
    let Some(prompt) = prompt_of(&command) else {
        return C::from_arg_matches(&matches);
    };
    let words: Vec<String> =
        matches.get_many::<String>(WORDS).into_iter().flatten().cloned().collect();
    let prompts = match &words[..] {
        [] => return C::from_arg_matches(&matches),
        [dash] if dash == "-" => vec![standard_input(&command)?],
        words if is_several(prompt) => words.to_vec(),
        words => vec![words.join(" ")],
    };
    // As if they had the flag, so that all that is said of the flag holds for them.
    let flags = prompts.into_iter().map(|prompt| format!("--prompt={prompt}").into());
    let place = arguments.len().min(1);
    arguments.splice(place..place, flags);
    C::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

fn prompt_of(command: &Command) -> Option<&Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some("prompt"))
}

fn is_several(prompt: &Arg) -> bool {
    matches!(prompt.get_action(), ArgAction::Append)
}

/// A text from standard input, without the line break at its end.
fn standard_input(command: &Command) -> Result<String, clap::Error> {
    let failed = |message: String| {
        let message = format!("cannot read the prompt from standard input: {message}");
        command.clone().error(ErrorKind::Io, message)
    };
    let mut bytes = Vec::new();
    let read = io::stdin().take(MOST_READ + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(in_words(error)))?;
    if bytes.len() as u64 > MOST_READ {
        return Err(failed(format!("it has more than {MOST_READ} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|error| failed(in_words(error)))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(text.strip_suffix('\r').unwrap_or(text).to_owned())
}

fn with_words(command: Command, several: bool) -> Command {
    let help = if several {
        "A prompt, the same as --prompt; in quotes, if it has spaces"
    } else {
        "The prompt, the same as --prompt; - reads standard input"
    };
    // Under no heading: otherwise it would be that of the group before.
    let words = Arg::new(WORDS).value_name("PROMPT").num_args(0..).action(ArgAction::Append);
    command.arg(words.help(help).help_heading(None::<&str>))
}

/// Puts each flag under the heading of the group that it is from. Left to itself, the heading of a group
/// goes on over whatever comes behind the group.
fn with_headings(command: Command) -> Command {
    let groups = [
        ("Chat", flags_of::<ChatArgs>()),
        ("Sampling", flags_of::<SamplingArgs>()),
        ("Constraint", flags_of::<ConstraintArgs>()),
        ("Speculation", flags_of::<SpeculateArgs>()),
        ("Model", flags_of::<ModelArgs>()),
    ];
    command.mut_args(|arg| {
        let group = groups.iter().find(|(_, flags)| flags.contains(arg.get_id()));
        arg.help_heading(group.map(|(heading, _)| *heading))
    })
}

fn flags_of<A: Args>() -> Vec<Id> {
    let command = A::augment_args(Command::new(""));
    command.get_arguments().map(|arg| arg.get_id().clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::GenerateArgs;

    #[derive(Debug, Parser)]
    struct One {
        #[arg(long, default_value = "default", conflicts_with = "ids")]
        prompt: String,
        #[arg(long)]
        ids: Option<u32>,
        #[arg(long)]
        json: bool,
    }

    #[derive(Debug, Args)]
    struct Prompts {
        #[arg(long = "prompt")]
        prompts: Vec<String>,
    }

    #[derive(Debug, Parser)]
    struct Several {
        #[command(flatten)]
        prompts: Prompts,
    }

    #[derive(Debug, Parser)]
    struct All {
        #[command(flatten)]
        generate: GenerateArgs,
        #[command(flatten)]
        constraint: ConstraintArgs,
        /// A flag of the example's own
        #[arg(long)]
        own: bool,
    }

    #[test]
    fn a_flag_is_under_the_heading_of_its_group() {
        let command = command::<All>();
        let heading = |name: &str| {
            let arg = command.get_arguments().find(|arg| arg.get_long() == Some(name)).unwrap();
            arg.get_help_heading()
        };
        let words = command.get_positionals().next().unwrap();
        assert_eq!(words.get_help_heading(), None);
        for name in ["own", "prompt", "json", "chunk", "score"] {
            assert_eq!(heading(name), None, "{name}");
        }
        assert_eq!(heading("temperature"), Some("Sampling"));
        assert_eq!(heading("regex"), Some("Constraint"));
        assert_eq!(heading("kv-cache-bytes"), Some("Model"));
        assert_eq!(heading("system"), Some("Chat"));
        let All { own, .. } = parse(&["--own"]).unwrap();
        assert!(own);
    }

    fn parse<C: Parser>(arguments: &[&str]) -> Result<C, clap::Error> {
        let all = ["program"].iter().chain(arguments);
        parse_as(command::<C>(), all.map(|argument| OsString::from(*argument)))
    }

    #[test]
    fn words_without_a_flag_are_the_prompt() {
        for (arguments, prompt) in [
            (&[][..], "default"),
            (&["--prompt", "a b"], "a b"),
            (&["a b"], "a b"),
            (&["Once", "upon", "--json", "a", "time"], "Once upon a time"),
            (&["--json", "--", "-x"], "-x"),
        ] {
            assert_eq!(parse::<One>(arguments).unwrap().prompt, prompt, "{arguments:?}");
        }
        let two: Several = parse(&["a b", "c"]).unwrap();
        assert_eq!(two.prompts.prompts, ["a b", "c"]);
    }

    #[test]
    fn a_prompt_twice_is_refused() {
        for arguments in [&["a", "--prompt", "b"][..], &["a", "--ids", "1"]] {
            let error = parse::<One>(arguments).unwrap_err().to_string();
            assert!(error.contains("--prompt"), "{error}");
        }
        let One { ids, json, .. } = parse(&["--ids", "7"]).unwrap();
        assert_eq!((ids, json), (Some(7), false));
    }
}
