//! `05_kv_cache`, and `slowburn run`: a text from one prompt, with a KV cache.

use clap::{ArgGroup, Args};
use slowburn::device::OpenDevice;
use slowburn::generate::{self, Chosen, Options};
use slowburn::pretrained::Pretrained;

use super::{AdapterChoice, ConstraintArgs, GenerateArgs, Report, Result, SpeculateArgs, score};

/// The flags of a text from one prompt.
#[derive(Debug, Clone, Args)]
#[command(group(ArgGroup::new("task").args(["score", "speculate"])))]
// Scores are those of the model itself.
#[command(group(ArgGroup::new("scored").args(["score", "echo", "lora"])))]
pub struct StoryArgs {
    #[command(flatten)]
    pub generate: GenerateArgs,

    #[command(flatten)]
    pub speculate: SpeculateArgs,

    #[command(flatten)]
    pub adapter: AdapterChoice,

    #[command(flatten)]
    pub constraint: ConstraintArgs,

    /// Let the text begin with the prompt's last token, or with a longer one: token healing
    #[arg(long, conflicts_with_all = ["score", "json_schema", "lark"])]
    pub heal: bool,
}

/// Generates and shows a text, or scores the prompt, with a model that [`GenerateArgs::load`] has loaded.
///
/// # Errors
/// A prompt, a constraint or a draft model that the model cannot take; a closed standard output.
pub fn story(args: &StoryArgs, (pretrained, device): (Pretrained, OpenDevice)) -> Result<()> {
    let StoryArgs { generate: args, speculate, adapter, constraint, heal } = args;
    let mut prompt = args.prompt_ids(&pretrained)?;
    if args.score {
        return score(args, &pretrained, &prompt);
    }

    let adapter = adapter.load(&pretrained)?;
    let adapter = adapter.map(|name| pretrained.adapters.get(&name)).transpose()?;
    let (pretrained, speculation) = speculate.speculation(&args.model, pretrained)?;
    let mut constraint = constraint.constraint(&pretrained)?;
    if *heal {
        constraint = pretrained.heal(&mut prompt, constraint.as_ref())?.or(constraint);
    }
    let mut report = Report::start(args, &pretrained, &device, &prompt)?;
    let options = Options { constraint, adapter, ..args.options() };
    let on_text = |text: &str| report.text(text);
    let generation = match speculation {
        None => generate::stream_text(generate::cached, &pretrained, &prompt, &options, on_text)?,
        Some(speculation) => {
            let mut speculator = speculation.start(&pretrained.model)?;
            let guess_ahead =
                |model: &_, prompt: &_, options: &_, on_token: &mut dyn FnMut(&Chosen<'_>) -> _| {
                    generate::speculated(model, &mut speculator, prompt, options, on_token)
                };
            generate::stream_text(guess_ahead, &pretrained, &prompt, &options, on_text)?
        }
    };
    report.finish(&generation)
}
