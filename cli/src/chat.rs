//! `slowburn chat`: a conversation in the terminal, or in a pipe.
//!
//! What a conversation is, without a terminal: [`Conversation`], the [`Line`]s that are typed, the
//! [`Settings`] of answers, and [`Speaker`], which answers.

mod command;
mod conversation;
mod error;
pub mod file;
mod input;
mod interrupts;
mod screen;
mod settings;
mod speaker;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use slowburn::inference::FinishReason;
use slowburn_examples::cli::{
    AdapterChoice, Bundled, ChatArgument, ModelArgs, SamplingArgs, SpeculateArgs, whole,
};

pub use command::{COMMANDS, Command, Line};
pub use conversation::{Answer, Conversation, JsonError, Question};
pub use error::{Error, Result};
pub use settings::Settings;
pub use speaker::{Reply, Speaker};

use crate::progress;
use input::{Input, Read};
use interrupts::Interrupts;
use screen::{Prefill, Screen, note};

/// Has a conversation
///
/// Each line is a message, or a command such as /help. Where standard input is not a terminal, answers go
/// to standard output, and nothing else does.
#[derive(Parser)]
pub struct Chat {
    /// The system message, before the first one
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,

    /// Go on with the messages of a file, such as /save writes
    #[arg(long, value_name = "FILE")]
    load: Option<PathBuf>,

    /// The most new tokens of an answer [default: as many as the context holds]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(..))]
    max_tokens: Option<usize>,

    /// The most tokens of what a model thinks before it answers: then it has to
    #[arg(long, value_name = "N", value_parser = whole::<usize>(..))]
    max_reasoning_tokens: Option<usize>,

    /// An argument of the model's chat template: enable_thinking=false
    #[arg(long = "chat-arg", value_name = "NAME=VALUE")]
    arguments: Vec<ChatArgument>,

    /// Show what a model thinks before it answers as one line
    #[arg(long)]
    fold_thoughts: bool,

    /// Keep no history of what was typed, beyond this conversation
    #[arg(long)]
    no_history: bool,

    #[command(flatten)]
    sampling: SamplingArgs,

    #[command(flatten)]
    speculate: SpeculateArgs,

    #[command(flatten)]
    adapter: AdapterChoice,

    #[command(flatten)]
    model: ModelArgs,
}

/// Has a conversation. The exit code says whether it could begin, and of a pipe whether each line had its
/// answer.
pub fn main(args: &Chat) -> ExitCode {
    match Session::begin(args).and_then(|mut session| session.run()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            slowburn_flags::note(&format!("error: {error}\n"));
            match error {
                Error::Model(error) => ExitCode::from(error.exit_code()),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// A conversation that goes on.
struct Session {
    speaker: Speaker,
    conversation: Conversation,
    settings: Settings,
    /// How often the last question was asked again: each time with another seed.
    repeats: u64,
    input: Input,
    screen: Screen,
    interrupts: Interrupts,
}

impl Session {
    fn begin(args: &Chat) -> Result<Self> {
        let settings = Settings {
            sampling: args.sampling.params(),
            max_tokens: args.max_tokens,
            max_reasoning_tokens: args.max_reasoning_tokens,
        };
        settings.check()?;
        let mut conversation = match &args.load {
            None => Conversation::default(),
            Some(path) => file::load(path)?,
        };
        if args.system.is_some() {
            conversation.system.clone_from(&args.system);
        }
        let speaker = progress::while_loading(|| -> Result<Speaker> {
            let model = args.model.or(Bundled::Spark);
            let (pretrained, _) = model.load()?;
            let vocabulary = pretrained.model.config().vocab_size;
            settings.sampling.check_vocabulary(vocabulary)?;
            let adapter = args.adapter.load(&pretrained)?;
            let (pretrained, speculation) = args.speculate.speculation(&model, pretrained)?;
            let speaker = Speaker::new(pretrained, speculation, args.arguments.clone())?;
            let speaker = speaker.with_adapter(adapter);
            speaker.warm_up()?;
            Ok(speaker)
        })?;
        Ok(Self {
            speaker,
            conversation,
            settings,
            repeats: 0,
            input: Input::open(!args.no_history)?,
            screen: Screen::new(args.fold_thoughts),
            interrupts: Interrupts::default(),
        })
    }

    /// Reads lines to the end. Whether all had their answers.
    fn run(&mut self) -> Result<bool> {
        let is_terminal = self.input.is_terminal();
        if !self.speaker.has_template() {
            note(
                "This model has no chat template, so the conversation is one text: each message\nbegins a paragraph, and the model continues it to its end.",
            );
        }
        if is_terminal {
            note("/help lists the commands. Ctrl-C ends an answer, Ctrl-D the program.");
            // Of a pipe, Ctrl-C ends the program, as of any other.
            self.interrupts = Interrupts::listen();
        }
        let mut succeeded = true;
        loop {
            let line = match self.input.read()? {
                Read::End => return Ok(succeeded || is_terminal),
                Read::Interrupted => {
                    note("Ctrl-D or /quit ends the program.");
                    continue;
                }
                Read::Line(line) => line,
            };
            match Line::parse(&line).and_then(|line| self.obey(line)) {
                Ok(true) => {}
                Ok(false) => return Ok(succeeded || is_terminal),
                // Nobody reads any more.
                Err(error @ (Error::Output(_) | Error::Input(_))) => return Err(error),
                Err(error) => {
                    succeeded = false;
                    slowburn_flags::note(&format!("error: {error}\n"));
                }
            }
        }
    }

    /// Does what a line says. Whether the conversation goes on.
    fn obey(&mut self, line: Line) -> Result<bool> {
        match line {
            Line::Empty => {}
            Line::Message(text) => {
                self.repeats = 0;
                self.answer(self.conversation.ask(text))?;
            }
            Line::Command(Command::Quit) => return Ok(false),
            Line::Command(command) => self.command(command)?,
        }
        Ok(true)
    }

    fn command(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Quit => {}
            Command::Help => {
                let rows = COMMANDS.map(|(usage, text)| format!("{usage:<16} {text}"));
                note(&rows.join("\n"));
                note("Tab completes a command, and a backslash at its end joins two lines.");
            }
            Command::ShowSystem => match &self.conversation.system {
                None => note("There is no system message."),
                Some(text) => note(text),
            },
            Command::System(text) => self.conversation.system = text,
            Command::Clear => self.conversation.clear(),
            Command::Undo => {
                let question = self.conversation.undo().ok_or(Error::NothingToUndo)?;
                note(&format!("taken back: {question}"));
            }
            Command::Retry => {
                let question = self.conversation.again().ok_or(Error::NothingToRetry)?;
                self.repeats += 1;
                self.answer(question)?;
            }
            Command::ShowSettings => {
                let rows = self.settings.rows().map(|(name, value)| format!("{name:<20} {value}"));
                note(&rows.join("\n"));
            }
            Command::Set { name, value } => self.settings.set(&name, &value)?,
            Command::Save { path, replace } => {
                file::save(&self.conversation, &path, replace)?;
                note(&format!("saved {}", path.display()));
            }
            Command::Load(path) => {
                self.conversation = file::load(&path)?;
                self.repeats = 0;
                note(&counted(self.conversation.turns()));
            }
            Command::Tokens => self.tokens()?,
            Command::Think => {
                let how = if self.screen.fold() {
                    "Thoughts are one line now."
                } else {
                    "Thoughts are shown now."
                };
                note(how);
            }
        }
        Ok(())
    }

    /// Counts the conversation's tokens.
    fn tokens(&self) -> Result<()> {
        let (turns, context) = (self.conversation.turns(), self.speaker.context());
        // Of a system message alone, some templates make nothing.
        let tokens = match turns {
            0 => 0,
            _ => self.speaker.count(&self.conversation.all())?,
        };
        let left = context.saturating_sub(tokens);
        note(&format!(
            "{tokens} tokens in {}; {left} of the context's {context} are left",
            counted(turns)
        ));
        Ok(())
    }

    /// Answers a question. Without an answer, the conversation is as it was, and the question can be asked
    /// again.
    fn answer(&mut self, question: Question) -> Result<()> {
        match self.reply(&question) {
            Ok(reply) => {
                let summary = self.summary(&reply);
                if reply.answer.text.trim().is_empty() {
                    self.conversation.fail(question);
                    note(&format!("{summary}; no answer: /retry asks again"));
                } else {
                    self.conversation.answer(question, reply.answer);
                    note(&summary);
                }
                Ok(())
            }
            Err(error) => {
                self.conversation.fail(question);
                Err(error)
            }
        }
    }

    fn reply(&mut self, question: &Question) -> Result<Reply> {
        let Self { speaker, settings, screen, interrupts, .. } = self;
        let prompt = speaker.prompt(&self.conversation.messages(question))?;
        let mut settings = settings.clone();
        settings.sampling.seed = settings.sampling.seed.wrapping_add(self.repeats);
        screen.begin();
        let prefill = Prefill::of(speaker, prompt.len());
        let reply = prefill.watch(|bar| {
            speaker.answer(
                prompt,
                &settings,
                |token| interrupts.cancel(token),
                |piece, thought_tokens| {
                    bar.end();
                    screen.show(piece, thought_tokens)
                },
            )
        });
        interrupts.rest();
        screen.end(reply.as_ref().map_or(0, |reply| reply.thought_tokens))?;
        reply
    }

    /// What an answer took.
    fn summary(&self, reply: &Reply) -> String {
        let completion = &reply.completion;
        let usage = &completion.usage;
        let mut parts = vec![format!(
            "{} of {} prompt tokens from the cache",
            usage.cached_tokens, usage.prompt_tokens
        )];
        if let Some(time) = completion.timings.tpot {
            parts.push(format!("{:.0} tokens/s", 1.0 / time.as_secs_f64().max(1e-9)));
        }
        match completion.finish_reason {
            FinishReason::Cancelled => parts.push("stopped".to_owned()),
            FinishReason::Length if self.settings.max_tokens.is_some() => {
                parts.push("as long as max_tokens allows".to_owned());
            }
            FinishReason::Length | FinishReason::Context => {
                let context = self.speaker.context();
                parts.push(format!(
                    "the context of {context} tokens is full: /undo takes the last turn back, /clear begins anew"
                ));
            }
            _ => {}
        }
        parts.join(", ")
    }
}

/// A number of turns, in words.
fn counted(turns: usize) -> String {
    match turns {
        1 => "1 turn".to_owned(),
        turns => format!("{turns} turns"),
    }
}
