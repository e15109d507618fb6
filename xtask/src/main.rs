//! Maintainers' commands: what the bundled model is made from, and how; what is measured.

mod bench;
mod corpus;
mod corpus_command;
mod eval;
mod figures;
mod folder;
mod load_cost;
mod parity;
mod random_checkpoint;
mod train;

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
    /// Measure a trained model on held-out stories and on stories that it writes
    Eval(eval::EvalArgs),
    /// Measure what settings of the sampler do to the stories of the bundled model
    Guidance(eval::guidance::GuidanceArgs),
    /// Run the commands that the book shows, and keep what they print and draw
    Figures(figures::FiguresArgs),
    /// Print how far the fixture models are from their reference
    Parity(parity::ParityArgs),
    /// Write a folder with the shape of a published model and random weights
    RandomCheckpoint(random_checkpoint::RandomCheckpointArgs),
    /// Measure the time and the memory that loading a model takes
    LoadCost(load_cost::LoadCostArgs),
    /// Measure how many tokens a second are read and written
    Bench(bench::BenchArgs),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Corpus(args) => corpus_command::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Guidance(args) => eval::guidance::run(&args),
        Command::Figures(args) => figures::run(&args),
        Command::Parity(args) => parity::run(&args),
        Command::RandomCheckpoint(args) => random_checkpoint::run(&args),
        Command::LoadCost(args) => load_cost::run(&args),
        Command::Bench(args) => bench::run(&args),
    }
}
