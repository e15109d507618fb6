//! The flags and the output of `14_other_models`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use slowburn::engine::SequenceId;
use slowburn::generate::Event;

use slowburn_examples::cli::{BOLD, Error, Result, check_chart, print, whole, write};

use super::experts::ExpertsRun;
use super::shapes::{Mixture, WindowPattern};
use super::windows::WindowStep;
use super::{experts, figure, layers, ropes, shapes, sizes, times, windows};

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
    #[arg(long, default_value_t = 2048, value_name = "TOKENS", value_parser = whole::<usize>(1..))]
    pub tokens: usize,

    /// The window, in positions
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = whole::<usize>(1..))]
    pub window: usize,

    /// How many texts the experts are counted over
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = whole::<usize>(shapes::LARGEST_BATCH as u64..=1_000_000))]
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
    /// Whether the figure can be drawn that was asked for, before anything is printed.
    ///
    /// # Errors
    /// A part without a figure; a file that cannot be written or drawn.
    pub fn check_figure(&self) -> Result<()> {
        let Some(file) = &self.chart else {
            return Ok(());
        };
        check_chart(file)?;
        match self.part {
            Some(Part::Layers) | None => Err(Error::NoFigure),
            Some(Part::Windows | Part::Experts | Part::Rope) => Ok(()),
        }
    }

    /// The parts to show.
    pub fn parts(&self) -> Vec<Part> {
        match self.part {
            Some(part) => vec![part],
            None if !self.config.is_empty() => vec![Part::Layers],
            None => Part::value_variants().to_vec(),
        }
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

/// What the parts found. Each is shown as soon as it is known, its title before.
pub struct OtherModelsReport<'a> {
    args: &'a OtherModelsArgs,
    windows: Vec<(WindowPattern, Vec<WindowStep>)>,
    experts: Vec<ExpertsRun>,
    has_begun: bool,
    json: Map<String, Value>,
}

impl<'a> OtherModelsReport<'a> {
    /// A report on nothing yet.
    pub fn new(args: &'a OtherModelsArgs) -> Self {
        Self {
            args,
            windows: Vec::new(),
            experts: Vec::new(),
            has_begun: false,
            json: Map::new(),
        }
    }

    fn title(&mut self, title: &str) -> Result<()> {
        let space = if std::mem::replace(&mut self.has_begun, true) {
            "\n"
        } else {
            ""
        };
        self.show(&format!("{space}{BOLD}{title}{BOLD:#}\n\n"))
    }

    fn found(&mut self, name: &str, (text, json): (String, Value)) -> Result<()> {
        self.json.insert(name.to_owned(), json);
        self.show(&text)
    }

    fn show(&self, text: &str) -> Result<()> {
        if self.args.json { Ok(()) } else { write(text) }
    }

    /// What the layers of each config do.
    ///
    /// # Errors
    /// A file that cannot be read, or asks for something that is not supported; a closed standard output.
    pub fn layers(&mut self) -> Result<()> {
        let models = layers::models(&self.args.config)?;
        self.title("What config.json says")?;
        self.found("models", layers::text_and_json(&models))?;
        let (text, json) = sizes::text_and_json(&models);
        if json != json!([]) {
            self.title("What a token reads, and what a text holds")?;
            self.found("sizes", (text, json))?;
        }
        Ok(())
    }

    /// The title of [`windows`](Self::windows), whose steps take some time.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn begin_windows(&mut self) -> Result<()> {
        let OtherModelsArgs { tokens, window, .. } = *self.args;
        self.title(&format!("A text of {tokens} tokens, window {window}"))
    }

    /// The steps of a long text, with windows in some of the layers.
    ///
    /// # Errors
    /// A model that cannot be measured, where times were asked for; a closed standard output.
    pub fn windows(&mut self, runs: Vec<(WindowPattern, Vec<WindowStep>)>) -> Result<()> {
        self.found("windows", windows::text_and_json(&runs))?;
        self.windows = runs;
        if self.args.measure {
            self.title("The time of a token")?;
            self.found("window_times", times::windows()?)?;
        }
        Ok(())
    }

    /// The title of [`experts`](Self::experts), which are counted over many texts.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn begin_experts(&mut self, mixture: Mixture) -> Result<()> {
        self.title(&experts::title(mixture))
    }

    /// The experts of batches.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn experts(&mut self, run: ExpertsRun) -> Result<()> {
        self.found(&run.name(), run.text_and_json())?;
        self.experts.push(run);
        Ok(())
    }

    /// The times of batches, where they were asked for.
    ///
    /// # Errors
    /// A model that cannot be measured; a closed standard output.
    pub fn expert_times(&mut self) -> Result<()> {
        if self.args.measure {
            self.title("Tokens a second")?;
            self.found("expert_times", times::experts()?)?;
        }
        Ok(())
    }

    /// The frequencies of RoPE.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn ropes(&mut self) -> Result<()> {
        self.title("After how many positions a pair has turned round")?;
        self.found("ropes", ropes::text_and_json())
    }

    /// Prints all parts as one JSON object, if that was asked for, and draws the figure that was.
    ///
    /// # Errors
    /// A closed standard output; a figure that cannot be drawn.
    pub fn finish(self) -> Result<()> {
        if let Some(path) = &self.args.chart {
            figure::draw(path, self.args.part, &self.windows, &self.experts)?;
        }
        if self.args.json {
            print(true, &Value::Object(self.json), "")?;
        }
        Ok(())
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
