//! The flags of `10_kernels`.

use clap::Args;
use slowburn::RequestError;
use slowburn::pretrained::Pretrained;

use slowburn_examples::cli::{ModelArgs, Result, whole};

/// The flags of an example that times passes instead of writing a text.
#[derive(Debug, Clone, Args)]
pub struct KernelArgs {
    /// The text to read, repeated up to --tokens
    #[arg(long, default_value = "Once upon a time", value_name = "TEXT")]
    pub prompt: String,

    /// How many tokens the prompt has
    #[arg(long, default_value_t = 128, value_name = "N", value_parser = whole::<usize>(1..))]
    pub tokens: usize,

    #[command(flatten)]
    pub model: ModelArgs,

    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

impl KernelArgs {
    /// Loads the requested model, with `change` applied to the flags.
    ///
    /// # Errors
    /// A device that cannot be used; a model that cannot be loaded.
    pub fn load_with(&self, change: impl FnOnce(&mut ModelArgs)) -> Result<Pretrained> {
        let mut model = self.model.clone();
        change(&mut model);
        Ok(model.load()?.0)
    }

    /// The ids of the prompt, and of `more` further tokens.
    ///
    /// # Errors
    /// More ids than the context length; an empty prompt.
    pub fn ids(&self, pretrained: &Pretrained, more: usize) -> Result<Vec<u32>> {
        let prompt = pretrained.prompt_ids(&self.prompt)?;
        let count = self.tokens.saturating_add(more);
        let context = pretrained.model.config().context_length;
        if count > context {
            let too_long = RequestError::PromptTooLong { prompt: count, context };
            return Err(slowburn::Error::Request(too_long).into());
        }
        let ids: Vec<u32> = prompt.into_iter().cycle().take(count).collect();
        pretrained.model.check_prompt(&ids)?;
        Ok(ids)
    }
}
