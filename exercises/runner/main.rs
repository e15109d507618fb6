//! `cargo run -p exercises`: where a learner is, what is next, and whether it is right.

mod check;
mod engine;
mod figure;
mod overview;
mod reset;
mod screen;
mod tell;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;

use anstream::eprintln;
use anyhow::Result;
use clap::{Parser, Subcommand};
use exercises_runner::manifest::{Exercise, Manifest, project_root};
use exercises_runner::originals;
use exercises_runner::progress::{Progress, Status};

/// The exercises of Slow Burn. Without a command: where you are, and what is next
#[derive(Parser)]
#[command(name = "exercises", bin_name = "cargo run -p exercises --")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Only the short path, for someone in a hurry
    #[arg(long, global = true)]
    short: bool,
}

/// The flags of `engine` that ask for a text.
const OF_A_TEXT: [&str; 6] = ["prompt", "seed", "speculate", "regex", "units", "experts"];

#[derive(Subcommand)]
enum Command {
    /// Check an exercise whenever you save it, then go on to the next
    Watch,
    /// Show a hint, each time one more
    Hint {
        /// Which exercise; without a name, the next
        name: Option<String>,
    },
    /// Show all exercises
    List,
    /// Run the tests of one exercise, or of all that you have begun
    Check {
        /// Which exercise; without a name, all that you have begun
        name: Option<String>,
    },
    /// Write with an engine that uses your function for each part whose exercise passes
    Engine {
        /// Use your function, although its tests fail; repeatable
        #[arg(long = "try", value_name = "NAME")]
        tried: Vec<String>,
        /// Write on after this, instead of the prompt of *First light*
        #[arg(long, value_name = "TEXT")]
        prompt: Option<String>,
        /// Draw with this seed, instead of 42
        #[arg(long)]
        seed: Option<u64>,
        /// Guess ahead: several tokens of the text in one pass
        #[arg(long, conflicts_with = "regex")]
        speculate: bool,
        /// Write only what matches this regular expression
        #[arg(long, value_name = "PATTERN")]
        regex: Option<String>,
        /// Run kernels on a loop over the units of a GPU, so many to a cube
        #[arg(long, conflicts_with_all = ["speculate", "experts"])]
        units: Option<usize>,
        /// Write with a model that has windows and experts, in a pool too small for its text
        #[arg(long, conflicts_with = "speculate")]
        experts: bool,
        /// Serve texts over HTTP, until you stop it
        #[arg(
            long,
            value_name = "ADDRESS",
            num_args = 0..=1,
            default_missing_value = "127.0.0.1:8080",
            group = "no_text",
            conflicts_with_all = OF_A_TEXT
        )]
        serve: Option<String>,
        /// Measure how many tokens a second each idea brings, with your parts and the book's
        #[arg(long, group = "no_text", conflicts_with_all = OF_A_TEXT)]
        speed: bool,
        /// Measure the kernel alone: what panels, several rows and all cores bring
        #[arg(long, group = "no_text", conflicts_with_all = OF_A_TEXT)]
        kernel: bool,
        /// Send requests to a router in front of two engines
        #[arg(long, group = "no_text", conflicts_with_all = OF_A_TEXT)]
        replicas: bool,
    },
    /// Start an exercise anew; your version is kept as a backup
    Reset {
        name: String,
        /// The commit or branch to take it from
        #[arg(long, default_value = "HEAD", value_name = "COMMIT")]
        from: String,
    },
    /// Show the answer and its explanation, once the exercise passes
    Solution {
        name: String,
        /// Show it although the exercise doesn't pass
        #[arg(long)]
        give_up: bool,
    },
}

/// The project that the commands work on.
struct Project {
    root: PathBuf,
    manifest: Manifest,
    short: bool,
}

impl Project {
    /// The exercises that were asked for, in their order.
    fn exercises(&self) -> Vec<&Exercise> {
        let all = self.manifest.exercises.iter();
        all.filter(|exercise| !self.short || exercise.short_path).collect()
    }

    /// The next exercise that does not pass, as far as is known: the one that was worked on last,
    /// or else the first of its chapter, of the chapters behind it, and of those before it.
    fn next(&self) -> Result<Option<&Exercise>> {
        let progress = self.progress()?;
        let exercises = self.exercises();
        let last = progress.last().and_then(|name| self.manifest.find(name).ok());
        let from = last.map_or(0, |last| {
            let first = exercises.iter().position(|exercise| exercise.chapter >= last.chapter);
            first.unwrap_or(0)
        });
        let in_turn = exercises[from..].iter().chain(&exercises[..from]).copied();
        let here = last.filter(|last| !self.short || last.short_path);
        for exercise in here.into_iter().chain(in_turn) {
            if progress.status(&self.root, exercise)? != Status::Passed {
                return Ok(Some(exercise));
            }
        }
        Ok(None)
    }

    /// Those of some exercises that changed since they were checked.
    fn changed<'a>(
        &self,
        exercises: impl IntoIterator<Item = &'a Exercise>,
    ) -> Result<Vec<&'a Exercise>> {
        let progress = self.progress()?;
        let mut changed = Vec::new();
        for exercise in exercises {
            if progress.status(&self.root, exercise)? == Status::Changed {
                changed.push(exercise);
            }
        }
        Ok(changed)
    }

    fn progress(&self) -> Result<Progress> {
        let (progress, note) = Progress::load(&self.root)?;
        say(note);
        Ok(progress)
    }

    /// Changes what is kept.
    fn update(&self, change: impl FnOnce(&mut Progress)) -> Result<()> {
        say(Progress::update(&self.root, change)?);
        Ok(())
    }
}

/// Says what became of a file that is damaged.
fn say(note: Option<String>) {
    if let Some(note) = note {
        eprintln!(
            "{}",
            screen::fitted(&format!("{}note:{} {note}", screen::ATTENTION, screen::END))
        );
    }
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!(
                "{}",
                screen::fitted(&format!("{}error:{} {error:#}", screen::ATTENTION, screen::END))
            );
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode> {
    let root = project_root()?;
    let manifest = Manifest::read(&root)?;
    let project = Project { root, manifest, short: cli.short };
    originals::keep(&project.root, &project.manifest)?;
    let Some(command) = &cli.command else {
        overview::run(&project)?;
        return Ok(ExitCode::SUCCESS);
    };
    match command {
        Command::Watch => watch::run(&project)?,
        Command::Hint { name } => tell::hint(&project, name.as_deref())?,
        Command::List => overview::list(&project)?,
        Command::Check { name } => return check::run(&project, name.as_deref()),
        Command::Engine {
            tried,
            prompt,
            seed,
            speculate,
            regex,
            units,
            experts,
            serve,
            speed,
            kernel,
            replicas,
        } => {
            let with_values = [
                ("--prompt", prompt.clone()),
                ("--seed", seed.map(|seed| seed.to_string())),
                ("--regex", regex.clone()),
                ("--units", units.map(|units| units.to_string())),
                ("--serve", serve.clone()),
            ];
            let mut arguments: Vec<String> = with_values
                .into_iter()
                .filter_map(|(flag, value)| Some([flag.to_owned(), value?]))
                .flatten()
                .collect();
            let flags = [
                ("--speculate", *speculate),
                ("--experts", *experts),
                ("--speed", *speed),
                ("--kernel", *kernel),
                ("--replicas", *replicas),
            ];
            arguments.extend(flags.iter().filter(|flag| flag.1).map(|flag| flag.0.to_owned()));
            return engine::run(&project, tried, &arguments);
        }
        Command::Reset { name, from } => reset::run(&project, name, from)?,
        Command::Solution { name, give_up } => tell::solution(&project, name, *give_up)?,
    }
    Ok(ExitCode::SUCCESS)
}
