//! The flags and the output of `14_other_models`.

mod experts;
mod figure;
mod layers;
mod ropes;
mod shapes;
mod sizes;
mod times;
mod windows;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use slowburn::engine::SequenceId;
use slowburn::generate::Event;

use super::terminal::print;
use super::{BOLD, Result};
pub use experts::ExpertsRun;
pub use shapes::{Mixture, WindowPattern};
pub use windows::WindowStep;

/// The flags of `14_other_models`.
#[derive(Debug, Clone, Args)]
pub struct OtherModelsArgs {
    /// Show only this part [default: all of them]
    #[arg(long, value_enum)]
    pub part: Option<Part>,

    /// Show what the layers of this `config.json` do, instead of those of six published models. May be
    /// given several times
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,

    /// The text that is written with windows and without them
    #[arg(long, default_value_t = 2048, value_name = "TOKENS", value_parser = super::at_least_one)]
    pub tokens: usize,

    /// The window, in positions
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = super::at_least_one)]
    pub window: usize,

    /// How many texts the experts are counted over
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = at_least_a_batch)]
    pub texts: usize,

    /// Measure times, on larger models
    #[arg(long)]
    pub measure: bool,

    /// Draw the windows, the experts or RoPE (.svg or .png; needs --part and --features plot)
    #[arg(long, value_name = "FILE", requires = "part")]
    pub chart: Option<PathBuf>,

    /// Print one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

/// A part of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// What each layer of a model does
    Layers,
    /// What a token of a long text reads, and what the text holds
    Windows,
    /// How many experts a batch takes, and what it reads
    Experts,
    /// The frequencies of RoPE
    Rope,
}

impl OtherModelsArgs {
    /// The parts to show.
    pub fn parts(&self) -> Vec<Part> {
        match self.part {
            Some(part) => vec![part],
            None if !self.config.is_empty() => vec![Part::Layers],
            None => Part::value_variants().to_vec(),
        }
    }
}

fn at_least_a_batch(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(count) if (shapes::LARGEST_BATCH..=1_000_000).contains(&count) => Ok(count),
        _ => Err(format!("a whole number from {} to 1000000 is needed", shapes::LARGEST_BATCH)),
    }
}

/// Fails where a sequence of a batch did.
///
/// # Errors
/// The first of theirs.
pub fn check(events: Vec<(SequenceId, Event)>) -> Result<()> {
    for (_, event) in events {
        if let Event::Failed(error) = event {
            return Err(error.into());
        }
    }
    Ok(())
}

/// What the parts found.
pub struct OtherModelsReport<'a> {
    args: &'a OtherModelsArgs,
    windows: Vec<(WindowPattern, Vec<WindowStep>)>,
    experts: Vec<ExpertsRun>,
    text: String,
    json: Map<String, Value>,
}

impl<'a> OtherModelsReport<'a> {
    /// A report on nothing yet.
    pub fn new(args: &'a OtherModelsArgs) -> Self {
        Self {
            args,
            windows: Vec::new(),
            experts: Vec::new(),
            text: String::new(),
            json: Map::new(),
        }
    }

    fn part(&mut self, title: &str, name: &str, (text, json): (String, Value)) {
        if !self.text.is_empty() {
            self.text += "\n";
        }
        self.text += &format!("{BOLD}{title}{BOLD:#}\n\n{text}");
        self.json.insert(name.to_owned(), json);
    }

    /// What the layers of each config do.
    ///
    /// # Errors
    /// A file that cannot be read, or asks for something that is not supported.
    pub fn layers(&mut self) -> Result<()> {
        let models = layers::models(&self.args.config)?;
        self.part("What config.json says", "models", layers::text_and_json(&models));
        let (text, json) = sizes::text_and_json(&models);
        if json != json!([]) {
            self.part("What a token reads, and what a text holds", "sizes", (text, json));
        }
        Ok(())
    }

    /// The steps of a long text, with windows in some of the layers.
    ///
    /// # Errors
    /// A model that cannot be measured, where times were asked for.
    pub fn windows(&mut self, runs: Vec<(WindowPattern, Vec<WindowStep>)>) -> Result<()> {
        let OtherModelsArgs { tokens, window, measure, .. } = *self.args;
        let title = format!("A text of {tokens} tokens, window {window}");
        self.part(&title, "windows", windows::text_and_json(&runs));
        self.windows = runs;
        if measure {
            self.part("The time of a token", "window_times", times::windows()?);
        }
        Ok(())
    }

    /// The experts of batches.
    ///
    /// # Errors
    /// As [`windows`](Self::windows).
    pub fn experts(&mut self, runs: Vec<ExpertsRun>) -> Result<()> {
        for run in &runs {
            self.part(&run.title(), &run.name(), run.text_and_json());
        }
        self.experts = runs;
        if self.args.measure {
            self.part("Tokens a second", "expert_times", times::experts()?);
        }
        Ok(())
    }

    /// The frequencies of RoPE.
    pub fn ropes(&mut self) {
        let title = "After how many positions a pair has turned round";
        self.part(title, "ropes", ropes::text_and_json());
    }

    /// Prints all parts, as text or as one JSON object, and draws the figure that was asked for.
    ///
    /// # Errors
    /// A closed standard output; a figure that cannot be drawn.
    pub fn finish(self) -> Result<()> {
        if let Some(path) = &self.args.chart {
            figure::draw(path, self.args.part, &self.windows, &self.experts)?;
        }
        print(self.args.json, &Value::Object(self.json), &self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_of_ones_own_is_all_that_is_shown() {
        let args = |part, config: &[&str]| OtherModelsArgs {
            part,
            config: config.iter().map(PathBuf::from).collect(),
            tokens: 1,
            window: 1,
            texts: 64,
            measure: false,
            chart: None,
            json: false,
        };
        assert_eq!(args(None, &["config.json"]).parts(), [Part::Layers]);
        assert_eq!(args(Some(Part::Rope), &[]).parts(), [Part::Rope]);
        assert_eq!(args(None, &[]).parts().len(), 4);
    }
}
