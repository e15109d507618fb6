//! The flags of an example that generates from several prompts.

use clap::Args;
use slowburn::device::OpenDevice;
use slowburn::generate::{Batch, Options};
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

use super::prompt_args::{Prompt, PromptArgs};
use super::{ModelArgs, RecordArgs, Result, SamplingArgs, whole};

/// The flags of an example that generates from several prompts.
#[derive(Debug, Clone, Args)]
pub struct BatchArgs {
    #[command(flatten)]
    pub prompts: PromptArgs,

    #[command(flatten)]
    pub model: ModelArgs,

    /// Stop each text after this many new tokens [default: 100]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(..))]
    pub max_tokens: Option<usize>,

    #[command(flatten)]
    pub sampling: SamplingArgs,

    /// Prompt tokens to read in one pass, with a KV cache
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = whole::<usize>(1..))]
    pub chunk: usize,

    /// Continue after the end-of-sequence token
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
        Ok(self.model.load()?)
    }

    /// The token ids of each prompt.
    ///
    /// # Errors
    /// A file without prompts or that cannot be read; a prompt that the model cannot continue.
    pub fn prompt_ids(&self, pretrained: &Pretrained) -> Result<Vec<Vec<u32>>> {
        let ids = |prompt| {
            let ids = match prompt {
                Prompt::Text(text) => pretrained.prompt_ids(&text)?,
                Prompt::Ids(ids) => ids.or_begin(pretrained)?,
            };
            pretrained.model.check_prompt(&ids)?;
            Ok(ids)
        };
        self.prompts.prompts()?.into_iter().map(ids).collect()
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
