//! When attention is not all: a state by hand, what it forgets, and the memory that it takes.
//!
//! cargo run --example states
//! cargo run --example states -- --part forget

mod forget;
mod hand;
mod memory;

use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use slowburn_examples::cli;

/// Shows what a layer with a state remembers, what it forgets, and how much memory a text takes with it
#[derive(Parser)]
struct Cli {
    /// Only one part
    #[arg(long, value_enum)]
    part: Option<Part>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The delta rule on numbers of two digits, next to attention without a softmax
    Hand,
    /// What is left of a value after others are written
    Forget,
    /// The memory of a text, with keys and values, states or latents
    Memory,
}

fn main() -> ExitCode {
    cli::exit(run(&cli::parse::<Cli>()))
}

fn run(args: &Cli) -> cli::Result<()> {
    let parts =
        Part::value_variants().iter().filter(|part| args.part.is_none_or(|only| only == **part));
    let mut shown = Vec::new();
    for part in parts {
        shown.push(match part {
            Part::Hand => hand::text(),
            Part::Forget => forget::text(),
            Part::Memory => memory::text()?,
        });
    }
    cli::write(&shown.join("\n"))
}
