//! The prompts of several texts, in the order of the command line.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read};
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::{Error, PromptIds, Result};

/// The default prompts.
const PROMPTS: [&str; 4] = [
    "Once upon a time",
    "The storm",
    "One day, a girl called Mia found a small blue boat by the river. She",
    "It was late",
];

/// The size limit of a file of prompts in bytes.
const MOST_PROMPTS: usize = 64 << 20;

/// What a text begins with.
#[derive(Debug, Clone)]
pub(super) enum Prompt {
    Text(String),
    Ids(PromptIds),
}

/// The prompts of several texts, in the order of the command line.
#[derive(Debug, Clone)]
pub struct PromptArgs {
    typed: Vec<Prompt>,
    file: Option<PathBuf>,
}

/// The flags, each with its own values.
#[derive(Args)]
struct Flags {
    /// The text to continue; give it once for each prompt [default: four prompts]
    #[arg(long = "prompt", value_name = "TEXT")]
    texts: Vec<String>,

    /// Token ids to continue, instead of a text: 0,12,345; once for each prompt, also beside --prompt
    #[arg(long = "prompt-ids", value_name = "IDS")]
    ids: Vec<PromptIds>,

    /// A file with a prompt in each line; empty lines are skipped
    #[arg(long, conflicts_with_all = ["texts", "ids"], value_name = "FILE")]
    prompts_file: Option<PathBuf>,
}

impl PromptArgs {
    /// Whether the command line has no prompts.
    pub fn is_default(&self) -> bool {
        self.typed.is_empty() && self.file.is_none()
    }

    /// The prompts that were typed, those of the file, or else the default ones.
    ///
    /// # Errors
    /// A file without prompts or that cannot be read.
    pub(super) fn prompts(&self) -> Result<Vec<Prompt>> {
        let text = |text: &str| Prompt::Text(text.to_owned());
        let Some(path) = &self.file else {
            return Ok(if self.is_default() {
                PROMPTS.map(text).to_vec()
            } else {
                self.typed.clone()
            });
        };
        let io =
            |source| slowburn::Error::Load(slowburn::LoadError::Io { path: path.clone(), source });
        let file = read(path).map_err(io)?;
        let lines = file.lines().filter(|line| !line.trim().is_empty());
        let prompts: Vec<Prompt> = lines.map(text).collect();
        if prompts.is_empty() {
            Err(Error::NoPrompts { path: path.clone() })
        } else {
            Ok(prompts)
        }
    }
}

/// Reads a file of prompts, which may be a pipe.
fn read(path: &Path) -> Result<String, IoError> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_PROMPTS as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MOST_PROMPTS {
        let message = format!("it has more than {MOST_PROMPTS} bytes, the most that is read");
        return Err(IoError::other(message));
    }
    String::from_utf8(bytes).map_err(|error| IoError::new(ErrorKind::InvalidData, error))
}

impl Args for PromptArgs {
    fn augment_args(command: Command) -> Command {
        Flags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Flags::augment_args_for_update(command)
    }
}

impl FromArgMatches for PromptArgs {
    /// Puts the values of both flags into the order in which they were typed.
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let places = |flag| matches.indices_of(flag).into_iter().flatten().collect::<Vec<_>>();
        let (text_places, id_places) = (places("texts"), places("ids"));
        let Flags { texts, ids, prompts_file } = Flags::from_arg_matches(matches)?;
        let texts = text_places.into_iter().zip(texts.into_iter().map(Prompt::Text));
        let ids = id_places.into_iter().zip(ids.into_iter().map(Prompt::Ids));
        let mut typed: Vec<_> = texts.chain(ids).collect();
        typed.sort_by_key(|(place, _)| *place);
        let typed = typed.into_iter().map(|(_, prompt)| prompt).collect();
        Ok(Self { typed, file: prompts_file })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
