//! The flags of `09_paged_kv`.

use clap::Args;
use slowburn::RequestError;
use slowburn::engine::EngineConfig;
use slowburn::generate::Options;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

use slowburn_examples::cli::{ModelArgs, RecordArgs, Result, SamplingArgs, whole};

/// The default beginning of every prompt: three full blocks of the bundled model, and a part of one.
const SYSTEM: &str = "Once upon a time, in a small village by the sea, there lived a girl called \
Mia. She had a little boat with a red sail, and a grey cat who slept in it all day. Every morning, \
Mia and her cat went down to the water to look for shells. One morning the wind was cold, the sky \
was dark, and nobody else was there. Then Mia saw something in the sand. She ran to it and picked \
it up.";

/// The default ends of the prompts.
const PROMPTS: [&str; 3] = ["It was a key.", "It was a letter.", "It was a small fish."];

/// The flags of an example whose prompts have one beginning.
#[derive(Debug, Clone, Args)]
pub struct PagedArgs {
    /// The beginning of every prompt; if several are given, the prompts take turns [default: a story]
    #[arg(long = "system", value_name = "TEXT")]
    pub systems: Vec<String>,

    /// The end of a prompt; give it once for each prompt [default: three prompts]
    #[arg(long = "prompt", value_name = "TEXT")]
    pub prompts: Vec<String>,

    #[command(flatten)]
    pub model: ModelArgs,

    /// Stop each text after this many new tokens [default: 40; with --compare, each story after 400]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(..))]
    pub max_tokens: Option<usize>,

    /// The most sequences in a step
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = whole::<usize>(1..))]
    pub max_running: usize,

    /// Do not share blocks between prompts
    #[arg(long)]
    pub no_prefix_cache: bool,

    #[command(flatten)]
    pub sampling: SamplingArgs,

    /// With --compare: the number of requests at once
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = whole::<usize>(1..=1_000_000))]
    pub requests: usize,

    /// With --compare: the number of tokens that all requests begin with
    #[arg(long, default_value_t = 400, value_name = "N", value_parser = whole::<usize>(1..))]
    pub shared_tokens: usize,

    /// With --compare: the number of measurements
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = whole::<usize>(1..))]
    pub rounds: usize,

    /// With --compare: the number of stories
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = whole::<usize>(1..=1_000_000))]
    pub stories: usize,

    #[command(flatten)]
    pub record: RecordArgs,

    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

impl PagedArgs {
    /// Loads the requested model on the requested device.
    ///
    /// # Errors
    /// Sampling parameters out of range; a device that cannot be used; a model that cannot be
    /// loaded.
    pub fn load(&self) -> Result<Pretrained> {
        self.sampling.params().validate()?;
        Ok(self.model.load()?.0)
    }

    /// The settings of the scheduler.
    pub fn config(&self) -> EngineConfig {
        EngineConfig {
            max_running: self.max_running,
            prefix_cache: !self.no_prefix_cache,
            ..EngineConfig::default()
        }
    }

    fn systems(&self) -> Vec<&str> {
        if self.systems.is_empty() {
            vec![SYSTEM]
        } else {
            self.systems.iter().map(String::as_str).collect()
        }
    }

    /// The ids of each prompt: a beginning and an end.
    ///
    /// # Errors
    /// A prompt that the model cannot continue.
    pub fn prompt_ids(&self, pretrained: &Pretrained) -> Result<Vec<Vec<u32>>> {
        let ends = if self.prompts.is_empty() {
            PROMPTS.map(str::to_owned).to_vec()
        } else {
            self.prompts.clone()
        };
        let systems = self.systems();
        let prompts = ends.iter().zip(systems.into_iter().cycle());
        let ids = |(end, system): (&String, &str)| {
            let ids = pretrained.prompt_ids(&format!("{system} {end}"))?;
            pretrained.model.check_prompt(&ids)?;
            Ok(ids)
        };
        prompts.map(ids).collect()
    }

    /// The prompts of the requests of `--compare`: one beginning, repeated up to `--shared-tokens`,
    /// and another last token for each.
    ///
    /// # Errors
    /// More tokens than the context length.
    pub fn long_prompts(&self, pretrained: &Pretrained) -> Result<Vec<Vec<u32>>> {
        let system = pretrained.prompt_ids(self.systems()[0])?;
        let config = pretrained.model.config();
        let (shared, context) = (self.shared_tokens, config.context_length);
        if shared >= context {
            let too_long =
                RequestError::PromptTooLong { prompt: shared.saturating_add(1), context };
            return Err(slowburn::Error::Request(too_long).into());
        }
        let ids = |request: usize| {
            let last = (config.vocab_size - 1 - request % config.vocab_size) as u32;
            let ids: Vec<u32> = system.iter().copied().cycle().take(shared).chain([last]).collect();
            pretrained.model.check_prompt(&ids)?;
            Ok(ids)
        };
        (0..self.requests).map(ids).collect()
    }

    /// The prompts of the stories of `--compare`: very short ones, so that the limit is far away.
    ///
    /// # Errors
    /// A prompt that the model cannot continue.
    pub fn story_prompts(&self, pretrained: &Pretrained) -> Result<Vec<Vec<u32>>> {
        let prompt = pretrained.prompt_ids("Once upon a time")?;
        pretrained.model.check_prompt(&prompt)?;
        Ok(vec![prompt; self.stories])
    }

    /// The options of each prompt. Seeds count up from `--seed`.
    pub fn options(&self, prompts: usize, max_tokens: usize) -> Vec<Options> {
        let sampling = self.sampling.params();
        let seeds = (0..prompts as u64).map(|index| sampling.seed.wrapping_add(index));
        let options = |seed| Options {
            max_tokens,
            sampling: SamplingParams { seed, ..sampling.clone() },
            hash_logits: true,
            ..Options::default()
        };
        seeds.map(options).collect()
    }
}
