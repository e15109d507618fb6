//! `info.toml`: what exercises there are, and in which order.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// All exercises, in the order in which they are done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    #[serde(rename = "exercise")]
    pub exercises: Vec<Exercise>,
}

/// One exercise: one file with something to write or to mend.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    /// In snake case, and no other exercise has it: the name of its file and of its module.
    pub name: String,
    pub chapter: Chapter,
    pub title: String,
    #[serde(default)]
    pub kind: Kind,
    /// 1 to 3.
    pub level: u8,
    /// How long it takes someone who has read the chapter.
    pub minutes: u16,
    /// Whether it belongs to the short path, for someone in a hurry.
    pub short_path: bool,
    /// Whether it computes with Burn's tensors.
    #[serde(default)]
    pub tensors: bool,
    /// A nudge, an approach, nearly the code. Markdown.
    pub hints: [String; 3],
}

/// What there is to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A body to write, where the file has `todo!()`.
    #[default]
    Write,
    /// Code that compiles and is wrong, to be found and mended.
    BugHunt,
}

/// The package whose tests an exercise belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Package {
    /// Most exercises: it is built within a minute.
    Exercises,
    /// Those with tensors: it needs Burn, which takes minutes to compile.
    TensorExercises,
}

impl Package {
    pub const ALL: [Self; 2] = [Self::Exercises, Self::TensorExercises];

    /// Its name, which is also its test target's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exercises => "exercises",
            Self::TensorExercises => "tensor-exercises",
        }
    }
}

/// The chapters with exercises, in the order of the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chapter {
    Tokens,
    Model,
    NaiveLoop,
    Greedy,
    TopK,
    Temperature,
    TopP,
    KvCache,
    Batching,
    Streaming,
    Scheduler,
    PagedKv,
    Kernels,
    Gpus,
    Quantized,
    GuessAhead,
    OtherModels,
    States,
    Constrained,
    Server,
    Beyond,
}

impl Chapter {
    pub const ALL: [Self; 21] = [
        Self::Tokens,
        Self::Model,
        Self::NaiveLoop,
        Self::Greedy,
        Self::TopK,
        Self::Temperature,
        Self::TopP,
        Self::KvCache,
        Self::Batching,
        Self::Streaming,
        Self::Scheduler,
        Self::PagedKv,
        Self::Kernels,
        Self::Gpus,
        Self::Quantized,
        Self::GuessAhead,
        Self::OtherModels,
        Self::States,
        Self::Constrained,
        Self::Server,
        Self::Beyond,
    ];

    /// The name of its module and of its folders.
    pub fn module(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Model => "model",
            Self::NaiveLoop => "naive_loop",
            Self::Greedy => "greedy",
            Self::TopK => "top_k",
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::KvCache => "kv_cache",
            Self::Batching => "batching",
            Self::Streaming => "streaming",
            Self::Scheduler => "scheduler",
            Self::PagedKv => "paged_kv",
            Self::Kernels => "kernels",
            Self::Gpus => "gpus",
            Self::Quantized => "quantized",
            Self::GuessAhead => "guess_ahead",
            Self::OtherModels => "other_models",
            Self::States => "states",
            Self::Constrained => "constrained",
            Self::Server => "server",
            Self::Beyond => "beyond",
        }
    }

    /// The name of its page in the book, without `.md`.
    pub fn page(self) -> String {
        self.module().replace('_', "-")
    }
}

impl Exercise {
    /// Where it is written, from the root of the project.
    pub fn file(&self) -> PathBuf {
        self.rust_file("exercises/src")
    }

    /// Its tests, from the root of the project.
    pub fn suite(&self) -> PathBuf {
        self.rust_file("exercises/suite")
    }

    /// Its reference answer, from the root of the project.
    pub fn solution(&self) -> PathBuf {
        self.rust_file("solutions/src")
    }

    /// The module of its tests, with the colons that end it: a filter for `cargo test` that fits
    /// no other exercise.
    pub fn tests(&self) -> String {
        format!("{}::{}_tests::", self.chapter.module(), self.name)
    }

    pub fn package(&self) -> Package {
        if self.tensors {
            Package::TensorExercises
        } else {
            Package::Exercises
        }
    }

    /// The level in words.
    pub fn level_in_words(&self) -> &'static str {
        match self.level {
            1 => "easy",
            2 => "medium",
            _ => "hard",
        }
    }

    fn rust_file(&self, folder: &str) -> PathBuf {
        Path::new(folder).join(self.chapter.module()).join(format!("{}.rs", self.name))
    }

    fn validate(&self) -> Result<()> {
        let snake_case = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        ensure!(
            self.name.starts_with(|c: char| c.is_ascii_lowercase())
                && self.name.chars().all(snake_case),
            "`name` must be a file name in snake case, such as `causal_mask`"
        );
        ensure!(!self.title.trim().is_empty(), "`title` is empty");
        ensure!((1..=3).contains(&self.level), "`level` is {}, but must be 1 to 3", self.level);
        ensure!(
            (5..=60).contains(&self.minutes),
            "`minutes` is {}, but must be 5 to 60",
            self.minutes
        );
        for (i, hint) in self.hints.iter().enumerate() {
            ensure!(!hint.trim().is_empty(), "hint {} is empty", i + 1);
        }
        Ok(())
    }
}

impl Manifest {
    /// Reads `exercises/info.toml` of the project in `root`.
    pub fn read(root: &Path) -> Result<Self> {
        let path = root.join("exercises/info.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path:?}"))?;
        Self::parse(&text).with_context(|| format!("{path:?} is not a list of exercises"))
    }

    /// A list of exercises in TOML. Names must differ, and chapters come in the order of the
    /// book.
    pub fn parse(text: &str) -> Result<Self> {
        let manifest: Self = toml::from_str(text)?;
        let mut names = HashSet::new();
        for exercise in &manifest.exercises {
            let name = &exercise.name;
            exercise.validate().with_context(|| format!("exercise `{name}`"))?;
            ensure!(names.insert(name), "two exercises are named `{name}`: rename one");
        }
        for pair in manifest.exercises.windows(2) {
            ensure!(
                pair[0].chapter <= pair[1].chapter,
                "`{}` ({}) must come before `{}` ({}): chapters follow the book",
                pair[1].name,
                pair[1].chapter.module(),
                pair[0].name,
                pair[0].chapter.module()
            );
        }
        Ok(manifest)
    }

    /// The exercise of this name. The error names those that are nearest.
    pub fn find(&self, name: &str) -> Result<&Exercise> {
        let found = self.exercises.iter().find(|exercise| exercise.name == name);
        found.with_context(|| {
            let near = self.near(name);
            let meant = if near.is_empty() {
                String::new()
            } else {
                format!(" Did you mean {}?", near.join(" or "))
            };
            format!(
                "there is no exercise `{name}`.{meant} `cargo run -p exercises -- list` shows all"
            )
        })
    }

    /// Up to three names that someone may have meant, the nearest first.
    fn near(&self, name: &str) -> Vec<String> {
        let near = |exercise: &Exercise| strsim::jaro_winkler(name, &exercise.name);
        let mut names: Vec<(f64, &str)> =
            self.exercises.iter().map(|e| (near(e), e.name.as_str())).collect();
        names.retain(|(near, _)| *near > 0.8);
        names.sort_by(|a, b| b.0.total_cmp(&a.0));
        names.iter().take(3).map(|(_, name)| format!("`{name}`")).collect()
    }

    pub fn of_chapter(&self, chapter: Chapter) -> impl Iterator<Item = &Exercise> {
        self.exercises.iter().filter(move |exercise| exercise.chapter == chapter)
    }
}

/// The root of the project: the nearest folder, from the current one upwards, that holds
/// `exercises/info.toml`.
pub fn project_root() -> Result<PathBuf> {
    let here = std::env::current_dir()?;
    let root = here.ancestors().find(|folder| folder.join("exercises/info.toml").is_file());
    root.map(Path::to_owned).with_context(|| {
        format!("no folder above {here:?} holds exercises/info.toml: run this inside the project")
    })
}
