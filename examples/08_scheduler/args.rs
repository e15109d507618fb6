//! The flags of `08_scheduler`.

use clap::{Args, ValueEnum};
use slowburn::engine::{EngineConfig, Policy};
use slowburn::error::{Error, RequestError};
use slowburn::generate::Options;
use slowburn::pretrained::Pretrained;

use slowburn_examples::cli::{BatchArgs, Result, whole};

/// The default requests: two short prompts, and later a long one with a short one behind it.
/// Each with the step before which it arrives.
const REQUESTS: [(&str, usize); 4] = [
    ("Once upon a time", 0),
    ("The storm", 0),
    (LONG_PROMPT, 6),
    ("It was late", 6),
];

/// Repeated up to `LONG` tokens.
const LONG_PROMPT: &str = "One day, a girl called Mia found a small blue boat by the river. She";
const LONG: usize = 384;

/// The flags of an example that runs requests that come one after the other.
#[derive(Debug, Clone, Args)]
pub struct ScheduleArgs {
    #[command(flatten)]
    pub batch: BatchArgs,

    /// The step before which each prompt arrives, such as 0,0,8 [default: all before step 0]
    #[arg(long, value_name = "STEPS", value_delimiter = ',', value_parser = whole::<usize>(..))]
    pub arrive: Vec<usize>,

    /// The scheduling policy
    #[arg(long, value_enum, default_value_t = PolicyChoice::ChunkedPrefill)]
    pub policy: PolicyChoice,

    /// With chunked prefill, the most tokens in a step
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = whole::<usize>(1..))]
    pub token_budget: usize,

    /// The most sequences in a step
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = whole::<usize>(1..))]
    pub max_running: usize,
}

/// Policies, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyChoice {
    /// One sequence, to its end, then the next
    OneAtATime,
    /// Several start together; the next ones start when the last of them has ended
    StaticBatch,
    /// Sequences join at any step, and read their prompt in one step
    ContinuousBatch,
    /// Sequences join at any step, and read their prompt in chunks
    ChunkedPrefill,
}

/// A request, and when it arrives.
#[derive(Debug, Clone)]
pub struct ScheduledRequest {
    pub prompt: Vec<u32>,
    pub options: Options,
    /// It arrives before this step, or earlier if nothing else is left to do.
    pub arrives: usize,
}

impl ScheduleArgs {
    /// The settings of the scheduler.
    pub fn config(&self) -> EngineConfig {
        let policy = match self.policy {
            PolicyChoice::OneAtATime => Policy::OneAtATime,
            PolicyChoice::StaticBatch => Policy::StaticBatch,
            PolicyChoice::ContinuousBatch => Policy::ContinuousBatch,
            PolicyChoice::ChunkedPrefill => Policy::ChunkedPrefill,
        };
        EngineConfig {
            policy,
            token_budget: self.token_budget,
            max_running: self.max_running,
            ..EngineConfig::default()
        }
    }

    /// The requests in the order of their prompts.
    ///
    /// # Errors
    /// A file of prompts that cannot be read; a prompt that the model cannot continue; another
    /// number of arrivals than of prompts.
    pub fn requests(&self, pretrained: &Pretrained) -> Result<Vec<ScheduledRequest>> {
        let (prompts, arrivals) = if self.batch.prompts.is_default() {
            default_requests(pretrained)?
        } else {
            let prompts = self.batch.prompt_ids(pretrained)?;
            let arrivals = vec![0; prompts.len()];
            (prompts, arrivals)
        };
        let arrivals = self.arrivals(arrivals)?;
        let options = self.batch.options(prompts.len());
        let all = prompts.into_iter().zip(options).zip(arrivals);
        let request = |((prompt, options), arrives)| ScheduledRequest { prompt, options, arrives };
        Ok(all.map(request).collect())
    }

    /// The arrivals of `--arrive`, or else the default ones.
    fn arrivals(&self, default: Vec<usize>) -> Result<Vec<usize>> {
        match self.arrive.len() {
            0 => Ok(default),
            found if found == default.len() => Ok(self.arrive.clone()),
            found => Err(Error::Request(RequestError::Parameter {
                name: "--arrive",
                value: format!("{found} steps for {} prompts", default.len()),
                allowed: "one step for each prompt",
            })
            .into()),
        }
    }
}

/// The prompts and arrivals of the default requests. The long prompt takes no more than three
/// quarters of the context, so that a text can follow.
fn default_requests(pretrained: &Pretrained) -> Result<(Vec<Vec<u32>>, Vec<usize>)> {
    let context = pretrained.model.config().context_length;
    let mut prompts = Vec::new();
    for (text, _) in REQUESTS {
        let mut ids = pretrained.prompt_ids(text)?;
        if text == LONG_PROMPT {
            let length = LONG.min(context / 4 * 3).max(ids.len());
            ids = ids.into_iter().cycle().take(length).collect();
        }
        pretrained.model.check_prompt(&ids)?;
        prompts.push(ids);
    }
    Ok((prompts, REQUESTS.map(|(_, arrives)| arrives).to_vec()))
}
