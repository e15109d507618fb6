//! The shared parts of the numbered examples: flags and output.

mod batch_args;
mod chart;
mod chat;
mod command_line;
mod error;
mod prefill_time;
mod prompt_args;
mod record_args;
mod report;
mod score;
mod settings;
mod story;
mod terminal;
mod tokens;

use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;
use slowburn::RequestError;
use slowburn::device::OpenDevice;
use slowburn::generate::Options;
use slowburn::inference::GenerateRequest;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn_flags::{note, number};

pub use batch_args::BatchArgs;
pub use chart::{Chart, check_chart, draw};
pub use chat::{ChatArgs, ChatArgument, chat_options};
pub use command_line::{command, parse, parse_as};
pub use error::{Error, Result};
pub use prefill_time::{PrefillTime, saved_time_text};
pub use prompt_args::PromptArgs;
pub use record_args::RecordArgs;
pub use report::{Report, accepted, why};
pub use score::{ScoreArgs, score, score_prompt, score_text};
pub use settings::{Setting, settings};
pub use slowburn_flags::{
    AdapterChoice, Bundled, ConstraintArgs, ModelArgs, ModelSource, SimdChoice, SpeculateArgs,
    whole,
};
pub use story::{StoryArgs, story};
pub use terminal::{BOLD, DIM, Stream, ask, bar, print, quoted, write};
pub use tokens::{TokensArgs, tokens};

/// The flags of an example that generates from one prompt.
#[derive(Debug, Clone, Args)]
pub struct GenerateArgs {
    /// The text to continue
    #[arg(long, default_value = "Once upon a time", value_name = "TEXT")]
    pub prompt: String,

    /// Token ids to continue, instead of a text: 0,12,345
    #[arg(long, conflicts_with = "prompt", value_name = "IDS")]
    pub prompt_ids: Option<PromptIds>,

    #[command(flatten)]
    pub model: ModelArgs,

    #[command(flatten)]
    pub chat: ChatArgs,

    /// Stop after this many new tokens [default: 400, or fewer where many texts are shown]
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

    /// Show how likely each token was, beside the N most likely ones
    #[arg(long, value_name = "N", value_parser = whole::<usize>(..))]
    pub logprobs: Option<usize>,

    /// Show how likely each token of the prompt was, too
    #[arg(long, requires = "logprobs")]
    pub echo: bool,

    /// Generate nothing: print the log-probability of the prompt, and its perplexity
    #[arg(long, conflicts_with = "echo")]
    pub score: bool,

    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

impl GenerateArgs {
    /// Loads the requested model on the requested device.
    ///
    /// # Errors
    /// Sampling parameters out of range, checked before loading; a device that cannot be used; a
    /// model that cannot be loaded; a logit bias for a token that the model does not have.
    pub fn load(&self) -> Result<(Pretrained, OpenDevice)> {
        let sampling = self.sampling.params();
        sampling.validate()?;
        let (pretrained, device) = self.model.load()?;
        sampling.check_vocabulary(pretrained.model.config().vocab_size)?;
        Ok((pretrained, device))
    }

    /// The prompt's token ids. An empty prompt is the begin-of-sequence token.
    ///
    /// # Errors
    /// An empty prompt for a model without a begin-of-sequence token; an id outside the vocabulary;
    /// more ids than the context length; a chat prompt for a model without a chat template, or a
    /// template that fails.
    pub fn prompt_ids(&self, pretrained: &Pretrained) -> Result<Vec<u32>> {
        let ids = match &self.prompt_ids {
            Some(ids) => ids.clone().or_begin(pretrained)?,
            None if self.chat.enabled => {
                let messages = self.chat.messages(&self.prompt);
                pretrained.chat_ids(&messages, &self.chat.options())?
            }
            None => pretrained.prompt_ids(&self.prompt)?,
        };
        pretrained.model.check_prompt(&ids)?;
        Ok(ids)
    }

    /// The options for generating a story.
    pub fn options(&self) -> Options {
        Options {
            max_tokens: self.max_tokens.unwrap_or(400),
            sampling: self.sampling.params(),
            ignore_eos: self.ignore_eos,
            logprobs: self.logprobs,
            chunk: self.chunk,
            hash_logits: self.json,
            ..Options::default()
        }
    }

    /// The options as a request with the given prompt. `max_tokens` applies unless the flags set
    /// it.
    ///
    /// # Errors
    /// Flags out of their range.
    pub fn request(&self, prompt: Vec<u32>, max_tokens: usize) -> Result<GenerateRequest> {
        let Options { sampling, ignore_eos, logprobs, .. } = self.options();
        let request = GenerateRequest {
            logprobs,
            ..GenerateRequest::new(prompt)
                .with_max_tokens(self.max_tokens.unwrap_or(max_tokens))
                .with_sampling(sampling)
                .with_ignore_eos(ignore_eos)
        };
        request.validate()?;
        Ok(request)
    }
}

/// The flags that decide how each token is chosen.
#[derive(Debug, Clone, Args)]
pub struct SamplingArgs {
    /// 0 always takes the most likely token; higher is more random [default: 0.8]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = of_sampler(|p, n| p.temperature = n))]
    pub temperature: Option<f32>,

    /// Choose among the K likeliest tokens [default: all]
    #[arg(long, value_name = "K", value_parser = whole::<usize>(..))]
    pub top_k: Option<usize>,

    /// Choose among the likeliest tokens that together reach this probability; 1 is all
    /// [default: 0.95]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = of_sampler(|p, n| p.top_p = Some(n)))]
    pub top_p: Option<f32>,

    /// Choose among the tokens at least this fraction as likely as the likeliest
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = of_sampler(|p, n| p.min_p = Some(n)))]
    pub min_p: Option<f32>,

    /// Choose among the tokens whose surprise is nearest to the entropy, up to this probability
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = of_sampler(|p, n| p.typical_p = Some(n)))]
    pub typical_p: Option<f32>,

    /// Above 1, makes tokens less likely that occurred before, in the prompt too
    #[arg(
        long,
        default_value_t = 1.0,
        value_name = "R",
        allow_negative_numbers = true,
        value_parser = of_sampler(|p, n| p.repetition_penalty = n)
    )]
    pub repetition_penalty: f32,

    /// Subtract this from a token's score for each time that it was generated
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "F",
        allow_negative_numbers = true,
        value_parser = of_sampler(|p, n| p.frequency_penalty = n)
    )]
    pub frequency_penalty: f32,

    /// Subtract this from the score of every token that was generated
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "F",
        allow_negative_numbers = true,
        value_parser = of_sampler(|p, n| p.presence_penalty = n)
    )]
    pub presence_penalty: f32,

    /// Add this to the score of a token, from -100 (never) to 100 (always): 262=-100. May be given
    /// several times
    #[arg(long, value_name = "ID=BIAS", allow_negative_numbers = true)]
    pub logit_bias: Vec<TokenBias>,

    /// The seed of the random choices: the same seed gives the same text
    #[arg(long, default_value_t = 42, value_name = "N", value_parser = whole::<u64>(..))]
    pub seed: u64,
}

impl SamplingArgs {
    /// The sampling parameters of a story: the given flags, with defaults that suit the bundled
    /// model.
    pub fn params(&self) -> SamplingParams {
        SamplingParams {
            temperature: self.temperature.unwrap_or(0.8),
            top_p: Some(self.top_p.unwrap_or(0.95)),
            ..self.typed()
        }
    }

    /// The sampling parameters of the given flags only, otherwise the model's own distribution.
    pub fn typed(&self) -> SamplingParams {
        SamplingParams {
            temperature: self.temperature.unwrap_or(1.0),
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            typical_p: self.typical_p,
            repetition_penalty: self.repetition_penalty,
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            logit_bias: self.logit_bias.iter().map(|&TokenBias(id, bias)| (id, bias)).collect(),
            seed: self.seed,
        }
    }
}

/// Reads a number for a field of the sampler, which knows the numbers that are allowed.
pub fn of_sampler(
    set: fn(&mut SamplingParams, f32),
) -> impl Fn(&str) -> Result<f32, String> + Clone + Send + Sync + 'static {
    let mut none = SamplingParams::default();
    set(&mut none, f32::NAN);
    match none.validate() {
        Err(slowburn::Error::Request(RequestError::Parameter { allowed, .. })) => number(allowed),
        _ => number("any"),
    }
}

/// Token ids, separated by commas.
#[derive(Debug, Clone)]
pub struct PromptIds(Vec<u32>);

impl PromptIds {
    /// The ids, or the begin-of-sequence token where there are none.
    fn or_begin(self, pretrained: &Pretrained) -> Result<Vec<u32>> {
        let Self(ids) = self;
        Ok(if ids.is_empty() {
            pretrained.prompt_ids("")?
        } else {
            ids
        })
    }
}

impl FromStr for PromptIds {
    type Err = slowburn::Error;

    fn from_str(text: &str) -> slowburn::Result<Self> {
        let pieces = text.split(',').map(str::trim).filter(|piece| !piece.is_empty());
        let id = |piece: &str| {
            piece.parse().map_err(|_| {
                slowburn::Error::Request(slowburn::RequestError::Parameter {
                    name: "a token id",
                    value: format!("`{piece}`"),
                    allowed: "a whole number",
                })
            })
        };
        pieces.map(id).collect::<Result<_, _>>().map(PromptIds)
    }
}

/// A token id and its logit bias.
#[derive(Debug, Clone, Copy)]
pub struct TokenBias(u32, f32);

impl FromStr for TokenBias {
    type Err = slowburn::Error;

    fn from_str(text: &str) -> slowburn::Result<Self> {
        let parts = text
            .split_once('=')
            .and_then(|(id, bias)| Some(Self(id.trim().parse().ok()?, bias.trim().parse().ok()?)));
        parts.ok_or_else(|| {
            slowburn::Error::Request(slowburn::RequestError::Parameter {
                name: "a logit bias",
                value: format!("`{text}`"),
                allowed: "a token id and a number, as in 262=-100",
            })
        })
    }
}

/// Ends an example: an error is one line on standard error and an exit code.
pub fn exit(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // A broken pipe is not an error: the reader, such as `head`, has stopped reading.
        Err(Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            note(&format!("error: {error}\n"));
            ExitCode::from(error.exit_code())
        }
    }
}
