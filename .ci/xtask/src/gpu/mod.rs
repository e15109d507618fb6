//! `cargo xtask gpu`: all that is to be known of a card, in one call: whether it computes what it must,
//! and how fast.

mod backend;
mod budget;
mod checks;
mod roof;
mod speed;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use exercises_runner::cargo::cargo;
use slowburn::device::{self, OpenDevice, Precision};
use slowburn::pretrained::Pretrained;

use crate::bench::{Dtype, machine};
use crate::random_checkpoint::{self, Shape};
use backend::Backend;
use budget::Budget;
use roof::{Roof, Size};
use speed::Plan;

/// Parity with transformers, the same logits however they are computed, and the speed of two shapes with
/// random weights in five formats. Where this program was built without the backend, it is built again
/// with it.
#[derive(Args)]
pub struct GpuArgs {
    /// The backend [default: what this system most likely has]
    #[arg(long, value_enum)]
    device: Option<Backend>,
    /// How many seconds all of it may take, the build not included
    #[arg(long, default_value_t = 500)]
    seconds: u64,
    /// The bundled model instead of the two shapes, and few sequences: to see that all works
    #[arg(long)]
    quick: bool,
    /// Only the speed of these shapes, and no checks
    #[arg(long, value_enum, value_delimiter = ',', conflicts_with = "quick")]
    shape: Vec<Shape>,
    /// Only these formats
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "f32,f16,bf16,int8,int4"
    )]
    dtype: Vec<Dtype>,
    /// How many tokens are read at once
    #[arg(long, value_delimiter = ',', num_args = 0.., default_value = "512,2048", conflicts_with = "quick")]
    prompt_tokens: Vec<usize>,
    /// How many sequences decode at once
    #[arg(long, value_delimiter = ',', num_args = 0.., default_value = "1,8,64", conflicts_with = "quick")]
    batch: Vec<usize>,
    /// Write the report to a file too
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(args: &GpuArgs) -> Result<()> {
    let backend = args.device.unwrap_or_else(Backend::of_this_system);
    if !backend.is_compiled_in() {
        return build_and_run(backend);
    }
    let device = device::open(backend.choice())?;
    let start = Instant::now();
    let mut report = Report::default();
    report.add(&format!("{device}, on {}\n", machine::describe()?));
    let budget = Budget::of(Duration::from_secs(args.seconds));
    measure(&device, args, budget, &mut report)?;
    report.add(&format!("In {:.0} s.\n", start.elapsed().as_secs_f64()));
    args.out.as_ref().map_or(Ok(()), |file| {
        fs::write(file, &report.text).with_context(|| format!("cannot write {}", file.display()))
    })
}

/// What is printed, as soon as it is known.
#[derive(Default)]
struct Report {
    text: String,
}

impl Report {
    fn add(&mut self, text: &str) {
        println!("{text}");
        self.text += text;
        self.text.push('\n');
    }
}

fn measure(device: &OpenDevice, args: &GpuArgs, budget: Budget, report: &mut Report) -> Result<()> {
    let (size, plan) = if args.quick {
        (Size::QUICK, Plan::quick())
    } else {
        (Size::WHOLE, Plan::whole(&args.prompt_tokens, &args.batch))
    };
    let roof = Roof::measure(&device.device, size, budget.share(0.05))?;
    report.add(&roof.table(size));
    let models = models(args)?;
    if args.shape.is_empty() {
        let fixtures = crate::root().join("tests/fixtures/models");
        report.add(&checks::parity(device, &fixtures, args.quick, budget.share(0.25))?);
        let wide = models.iter().find_map(|(_, folder)| folder.as_deref());
        report.add(&checks::equivalences(device, wide, budget.share(0.15))?);
    }
    let mut table = Plan::HEAD.to_owned();
    let mut left = models.len() * args.dtype.len();
    for (name, folder) in &models {
        for &dtype in &args.dtype {
            let share = budget.first_of(left);
            left -= 1;
            table += &rows(device, name, folder.as_deref(), dtype, &plan, &roof, share)?;
        }
    }
    report.add(&table);
    Ok(())
}

/// The rows of one model in one format.
fn rows(
    device: &OpenDevice,
    name: &str,
    folder: Option<&Path>,
    dtype: Dtype,
    plan: &Plan,
    roof: &Roof,
    budget: Budget,
) -> Result<String> {
    let without = |why: &str| Ok(format!("| {name} | {} | {why} | | | | | | |\n", dtype.name()));
    if budget.is_over() {
        return without("not in time");
    }
    if let Err(error) = device.check(dtype.storage()) {
        return without(&error.to_string());
    }
    let loaded = match folder {
        Some(folder) => Pretrained::load(folder, device, dtype.storage())?,
        None => Pretrained::bundled(device, dtype.storage())?,
    };
    plan.rows(name, &loaded.model, dtype, roof, budget)
}

/// The names and folders of the models; no folder is the bundled one.
fn models(args: &GpuArgs) -> Result<Vec<(&'static str, Option<PathBuf>)>> {
    if args.quick {
        return Ok(vec![("ember", None)]);
    }
    let shapes = match args.shape.as_slice() {
        [] => &[Shape::SmolLm2_135m, Shape::TinyLlama1_1b],
        shapes => shapes,
    };
    let data = crate::root().join("data");
    let made = |&shape: &Shape| {
        let folder = data.join(format!("{}-f16", shape.name()));
        random_checkpoint::write_missing(shape, &folder, Precision::F16)?;
        Ok((shape.name(), Some(folder)))
    };
    shapes.iter().map(made).collect()
}

/// Runs this command in a build with the backend.
fn build_and_run(backend: Backend) -> Result<()> {
    let feature = backend.to_possible_value().context("a backend without a name")?;
    let mut cargo = cargo();
    cargo.args(["run", "--quiet", "--package", "xtask"]);
    cargo.args(["--features", feature.get_name()]);
    if cfg!(windows) {
        // A running executable is locked there.
        cargo.args(["--target-dir", "target/gpu"]);
    }
    let status = cargo.arg("--").args(std::env::args_os().skip(1)).status();
    std::process::exit(status.context("cannot start cargo")?.code().unwrap_or(1));
}
