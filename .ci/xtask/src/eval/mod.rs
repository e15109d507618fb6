//! `cargo xtask eval`: the likelihood of held-out stories under a trained model, and the quality of
//! the stories that it generates.
//!
//! [`measure`] runs the model, [`metrics`] computes the numbers, [`table`] prints them. No
//! threshold is applied to the numbers.

mod floats;
mod formats;
pub mod guidance;
mod measure;
mod metrics;
mod table;
pub mod talks;

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

use crate::corpus::{self, Story};
use measure::Measure;
use metrics::{HeldOut, Metrics, Overlap, Sampled, Settings};

#[derive(Args)]
pub struct EvalArgs {
    /// The model folder
    #[arg(long, default_value = "models/ember")]
    model: PathBuf,
    /// How many stories to sample, each with its own seed; 0 for none
    #[arg(long, default_value_t = 200)]
    stories: usize,
    /// How many stories to score that the model was not trained on; 0 for none
    #[arg(long, default_value_t = 500)]
    held_out: usize,
    /// Temperature of the sampled stories
    #[arg(long, default_value_t = 0.8)]
    temperature: f32,
    /// Top-p of the sampled stories; 1 keeps every token
    #[arg(long, default_value_t = 0.95)]
    top_p: f32,
    /// Seed of the first sampled story; the next ones count up
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// How the sampled stories begin; nothing leaves that to the model
    #[arg(long, default_value = "")]
    prompt: String,
    /// The seed of the stories that the model was trained on
    #[arg(long, default_value_t = corpus::SEED)]
    corpus_seed: u64,
    /// How many of them it was trained on
    #[arg(long, default_value_t = corpus::TRAINED_STORIES)]
    trained_stories: usize,
    /// Compare the formats of weights, keys and values with f32 instead
    #[arg(long)]
    formats: bool,
    /// Compare integers and floating point in 8 and 4 bits instead
    #[arg(long, conflicts_with = "formats")]
    floats: bool,
    /// With --formats: draw the perplexity against the bytes (.svg or .png)
    #[arg(long, requires = "formats")]
    chart: Option<PathBuf>,
    /// Also write the numbers to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// Print this many of the sampled stories
    #[arg(long, default_value_t = 0)]
    show: usize,
}

pub fn run(args: &EvalArgs) -> Result<()> {
    if args.formats {
        return formats::run(args);
    }
    if args.floats {
        return floats::run(args);
    }
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = Pretrained::load(&args.model, &device, Precision::F32)?;
    let measure = Measure::new(&pretrained, &args.prompt, args.sampling())?;
    let corpus = Corpus::tell(args);

    let bar = progress_bar(corpus.unseen.len(), "held-out stories");
    let scored = bar.wrap_iter(corpus.unseen.iter()).map(|story| measure.score(story));
    let scored = scored.collect::<Result<Vec<_>>>()?;
    bar.finish_and_clear();

    let bar = progress_bar(args.stories, "sampled stories");
    let seeds = (args.first_seed..).take(args.stories);
    let samples = bar.wrap_iter(seeds).map(|seed| measure.sample(seed, &corpus));
    let samples = samples.collect::<Result<Vec<_>>>()?;
    bar.finish_and_clear();

    let metrics = Metrics {
        settings: args.settings(),
        held_out: HeldOut::of(&scored),
        sampled: Sampled::of(&samples),
        four_gram_overlap: Overlap {
            sampled: metrics::mean_overlap(samples.iter().map(|sample| sample.written.as_str())),
            corpus: metrics::mean_overlap(corpus.unseen.iter().map(|story| story.text.as_str())),
        },
    };
    if let Some(path) = &args.json {
        let json = serde_json::to_string_pretty(&metrics)? + "\n";
        std::fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print!("{}", table::of(&metrics));
    print!("{}", table::stories(&samples[..args.show.min(samples.len())]));
    Ok(())
}

impl EvalArgs {
    /// The sampling parameters of the stories, without the seed.
    fn sampling(&self) -> SamplingParams {
        SamplingParams {
            temperature: self.temperature,
            top_p: (self.top_p != 1.0).then_some(self.top_p),
            ..SamplingParams::default()
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            model: self.model.display().to_string(),
            corpus_seed: self.corpus_seed,
            trained_stories: self.trained_stories,
            first_held_out: self.trained_stories + corpus::HELD_OUT,
            temperature: self.temperature,
            top_p: self.top_p,
            first_seed: self.first_seed,
            prompt: self.prompt.clone(),
        }
    }
}

/// Hashes of the training stories, and some stories after them.
struct Corpus {
    trained: HashSet<u64>,
    unseen: Vec<Story>,
}

impl Corpus {
    /// An empty corpus, for measurements that need no training stories.
    fn unknown() -> Self {
        Self { trained: HashSet::new(), unseen: Vec::new() }
    }

    /// Generates all stories from the first, which tells which later ones are new. The held-out
    /// stories of the training are skipped.
    fn tell(args: &EvalArgs) -> Self {
        let bar = progress_bar(
            args.trained_stories + corpus::HELD_OUT + args.held_out,
            "stories of the corpus",
        );
        let mut stories = bar.wrap_iter(corpus::stories(args.corpus_seed));
        let trained = stories.by_ref().take(args.trained_stories);
        let trained = trained.map(|story| hash(&story.text)).collect();
        let unseen = stories.skip(corpus::HELD_OUT).take(args.held_out).collect();
        bar.finish_and_clear();
        Self { trained, unseen }
    }

    /// Whether this exact text is a training story.
    fn trained_on(&self, text: &str) -> bool {
        self.trained.contains(&hash(text))
    }
}

fn hash(text: &str) -> u64 {
    use std::hash::BuildHasher;
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}

fn progress_bar(length: usize, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(length as u64).with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}, {eta} left") {
        bar.set_style(style);
    }
    bar
}
