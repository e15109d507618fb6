//! The flags of an example that generates from several prompts.

use std::io::{Error as IoError, ErrorKind};
use std::path::PathBuf;

use clap::Args;

use super::{Error, Result};
use super::{ModelArgs, RecordArgs, SamplingArgs, at_least_one};
use crate::device::OpenDevice;
use crate::files;
use crate::generate::{Batch, Options};
use crate::model::Model;
use crate::pretrained::Pretrained;
use crate::sampling::SamplingParams;

/// The default prompts.
const PROMPTS: [&str; 4] = [
    "Once upon a time",
    "The storm",
    "One day, a girl called Mia found a small blue boat by the river. She",
    "It was late",
];

/// The size limit of a file of prompts in bytes.
const MOST_PROMPTS: usize = 64 << 20;

/// The flags of an example that generates from several prompts.
#[derive(Debug, Clone, Args)]
pub struct BatchArgs {
    /// What the model goes on from; give it once for each text [default: four of them]
    #[arg(long = "prompt", value_name = "TEXT")]
    pub prompts: Vec<String>,

    /// A file with a prompt in each line; empty lines are left out
    #[arg(long, conflicts_with = "prompts", value_name = "FILE")]
    pub prompts_file: Option<PathBuf>,

    #[command(flatten)]
    pub model: ModelArgs,

    /// Stop each text after this many new tokens [default: 100]
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<usize>,

    #[command(flatten)]
    pub sampling: SamplingArgs,

    /// With a KV cache, read so many tokens of a prompt in one pass
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = at_least_one)]
    pub chunk: usize,

    /// Go on after the model has ended its text
    #[arg(long)]
    pub ignore_eos: bool,

    #[command(flatten)]
    pub record: RecordArgs,

    /// Print JSON, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

impl BatchArgs {
    /// Loads the requested model on the requested device.
    ///
    /// # Errors
    /// Sampling parameters out of range, checked before loading; a device that cannot be used; a
    /// model that cannot be loaded.
    pub fn load(&self) -> Result<(Pretrained, OpenDevice)> {
        self.sampling.params().validate()?;
        self.model.load()
    }

    /// The token ids of each prompt.
    ///
    /// # Errors
    /// A file without prompts or that cannot be read; a prompt that the model cannot continue.
    pub fn prompt_ids(&self, pretrained: &Pretrained) -> Result<Vec<Vec<u32>>> {
        let ids = |text: String| {
            let ids = pretrained.prompt_ids(&text)?;
            pretrained.model.check_prompt(&ids)?;
            Ok(ids)
        };
        self.texts()?.into_iter().map(ids).collect()
    }

    fn texts(&self) -> Result<Vec<String>> {
        let Some(path) = &self.prompts_file else {
            return Ok(if self.prompts.is_empty() {
                PROMPTS.map(str::to_owned).to_vec()
            } else {
                self.prompts.clone()
            });
        };
        let io = |source| crate::Error::Io { path: path.clone(), source };
        // The path may be a pipe.
        let bytes = std::fs::File::open(path).and_then(|file| files::read_upto(file, MOST_PROMPTS));
        let file = bytes.and_then(|bytes| {
            String::from_utf8(bytes).map_err(|error| IoError::new(ErrorKind::InvalidData, error))
        });
        let file = file.map_err(io)?;
        let lines = file.lines().filter(|line| !line.trim().is_empty());
        let texts: Vec<String> = lines.map(str::to_owned).collect();
        if texts.is_empty() {
            Err(Error::NoPrompts { path: path.clone() })
        } else {
            Ok(texts)
        }
    }

    /// A batch without sequences, which keeps a record if one was asked for, or a report on blocks.
    pub fn batch<'m>(&self, model: &'m Model) -> Batch<'m> {
        let mut batch = Batch::new(model);
        if self.record.record.is_some() || self.model.block_report {
            batch.keep_record();
        }
        batch
    }

    /// The options of each prompt. Seeds count up from `--seed`, so that equal prompts give
    /// different texts.
    pub fn options(&self, prompts: usize) -> Vec<Options> {
        let sampling = self.sampling.params();
        let seeds = (0..prompts as u64).map(|index| sampling.seed.wrapping_add(index));
        let options = |seed| Options {
            max_tokens: self.max_tokens.unwrap_or(100),
            sampling: SamplingParams { seed, ..sampling.clone() },
            ignore_eos: self.ignore_eos,
            chunk: self.chunk,
            hash_logits: self.json,
            ..Options::default()
        };
        seeds.map(options).collect()
    }
}
