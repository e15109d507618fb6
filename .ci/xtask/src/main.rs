//! Maintainers' commands: training data, training, evaluation, benchmarks, the book and the page.

mod adapter_cost;
mod bench;
mod book;
mod browser;
mod code_size;
mod corpus;
mod corpus_command;
mod eval;
mod exercises;
mod figures;
mod float_checkpoint;
mod folder;
mod format_cost;
mod gpu;
mod greedy_loops;
mod instructions;
mod live;
mod load;
mod load_cost;
mod loss_chart;
mod masks;
mod mutants;
mod one_build;
mod only_code;
mod page;
mod parity;
mod quantization;
mod random_checkpoint;
mod replay;
mod replicas;
mod roofline;
mod server;
mod shallow_checkpoint;
mod simulate;
mod small_float;
mod speculation;
#[cfg(feature = "train")]
mod train;
#[cfg(not(feature = "train"))]
#[path = "train_elsewhere.rs"]
mod train;
mod what_runs;
mod widget_data;

use std::path::Path;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Maintainers' commands of Slow Burn")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write stories of the small world as JSON lines, and say what they are like
    Corpus(corpus_command::CorpusArgs),
    /// Train a tokenizer and a decoder on the small world
    Train(train::TrainArgs),
    /// Draw the loss curve of a training run
    LossChart(loss_chart::LossChartArgs),
    /// Measure a trained model on held-out stories and on stories that it writes
    Eval(eval::EvalArgs),
    /// Measure how well a model that talks keeps to what was said
    Talks(eval::talks::TalksArgs),
    /// Measure what settings of the sampler do to the stories of the bundled model
    Guidance(eval::guidance::GuidanceArgs),
    /// Write greedily from many beginnings, and say which texts run into a loop
    GreedyLoops(greedy_loops::GreedyLoopsArgs),
    /// Run the commands that the book shows, and keep what they print and draw
    Figures(figures::FiguresArgs),
    /// Check the exercises, their suite and the answers, or write what the book says of them
    #[command(subcommand)]
    Exercises(exercises::ExercisesCommand),
    /// Count the lines of code, room by room
    CodeSize,
    /// Build the book, and check its pages, its links and its widgets
    Book(book::BookArgs),
    /// Write the logits that the book's widgets work on, and the figures in their places
    WidgetData,
    /// Compile the crate for the book's pages, check that it is up to date, or use it in a browser
    Live(live::LiveArgs),
    /// Open the server's page in a browser, and use it: conversation, text, sliders, keyboard, errors
    Page(page::PageArgs),
    /// Print how far the fixture models are from their reference
    Parity(parity::ParityArgs),
    /// Print which families and formats load, and how far each is from what another program computed
    WhatRuns(what_runs::WhatRunsArgs),
    /// Measure how far quantized weights are from the weights
    Quantization(quantization::QuantizationArgs),
    /// Measure the formats of weights with each instruction set, or those of keys and values
    FormatCost(format_cost::FormatCostArgs),
    /// Measure what 1, 4 and 16 adapters add to the step of a batch
    AdapterCost(adapter_cost::AdapterCostArgs),
    /// Plant bugs into the scheduler, and see that its test finds each
    Mutants,
    /// Repeat a run that `06_batching --record` has kept: the same plans, and the same bits
    Replay(replay::ReplayArgs),
    /// Write a folder with the shape of a published model and random weights
    RandomCheckpoint(random_checkpoint::RandomCheckpointArgs),
    /// Write the bundled model without its last blocks
    ShallowCheckpoint(shallow_checkpoint::ShallowCheckpointArgs),
    /// Measure a server under load
    Load(load::LoadArgs),
    /// Start several servers behind a router, and measure them
    Replicas(replicas::ReplicasArgs),
    /// Measure the time and the memory that loading a model takes
    LoadCost(load_cost::LoadCostArgs),
    /// Measure how many tokens a second are read and written
    Bench(bench::BenchArgs),
    /// Measure how fast this machine reads and multiplies, and how near a model comes to that
    Roofline(roofline::RooflineArgs),
    /// Check a GPU, and measure how fast it reads and writes
    Gpu(gpu::GpuArgs),
    /// Count the instructions of a token on 64-bit Arm, under qemu
    Instructions(instructions::InstructionsArgs),
    /// Answer with token masks, or measure how long they take beside other engines
    Masks(masks::MasksArgs),
    /// Measure what draft tokens gain
    Speculation(speculation::SpeculationArgs),
    /// Simulate the scheduler in virtual time, with many requests
    Simulate(simulate::SimulateArgs),
    /// Compute how many GPUs a number of users takes, and what goes over the wires between them
    Plan(simulate::plan::PlanArgs),
}

/// The project's folder.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders above")
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Corpus(args) => corpus_command::run(&args),
        Command::Train(args) => train::run(&args),
        Command::LossChart(args) => loss_chart::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Talks(args) => eval::talks::run(&args),
        Command::Guidance(args) => eval::guidance::run(&args),
        Command::GreedyLoops(args) => greedy_loops::run(&args),
        Command::Figures(args) => figures::run(&args),
        Command::Exercises(command) => exercises::run(&command),
        Command::CodeSize => code_size::run(),
        Command::Book(args) => book::run(&args),
        Command::WidgetData => widget_data::run(),
        Command::Live(args) => live::run(&args),
        Command::Page(args) => page::run(&args),
        Command::Parity(args) => parity::run(&args),
        Command::WhatRuns(args) => what_runs::run(&args),
        Command::Quantization(args) => quantization::run(&args),
        Command::FormatCost(args) => format_cost::run(&args),
        Command::AdapterCost(args) => adapter_cost::run(&args),
        Command::Mutants => mutants::run(),
        Command::Replay(args) => replay::run(&args),
        Command::RandomCheckpoint(args) => random_checkpoint::run(&args),
        Command::ShallowCheckpoint(args) => shallow_checkpoint::run(&args),
        Command::Load(args) => load::run(&args),
        Command::Replicas(args) => replicas::run(&args),
        Command::LoadCost(args) => load_cost::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Roofline(args) => roofline::run(&args),
        Command::Gpu(args) => gpu::run(&args),
        Command::Instructions(args) => instructions::run(&args),
        Command::Masks(args) => masks::run(&args),
        Command::Speculation(args) => speculation::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Plan(args) => simulate::plan::run(&args),
    }
}
