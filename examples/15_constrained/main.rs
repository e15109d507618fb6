//! Only what fits: a text that stays inside a grammar, and the tokens that were allowed at each step.
//!
//! cargo run --example 15_constrained
//! cargo run --example 15_constrained -- --prompt "" --regex "[A-Z][a-z]+( [a-z]+){3}\."
//! cargo run --example 15_constrained -- --name Milo --name Nora --steps 0
//! cargo run --example 15_constrained -- --measure

mod report;

use std::process::ExitCode;

use clap::Parser;
use slowburn::generate::{self, Options};
use slowburn_examples::cli;

use report::{ConstrainedArgs, ConstrainedReport};

/// Writes a text inside a grammar, and shows which tokens were allowed at each step
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    constrained: ConstrainedArgs,
}

fn main() -> ExitCode {
    let args = cli::parse::<Cli>().constrained;
    cli::exit(if args.generate.score {
        cli::score_prompt(&args.generate)
    } else {
        run(&args)
    })
}

fn run(args: &ConstrainedArgs) -> cli::Result<()> {
    let (pretrained, _) = args.generate.load()?;
    let prompt = args.generate.prompt_ids(&pretrained)?;
    let constraint = pretrained.constraint(&args.grammar()?)?;
    let options = Options {
        constraint: Some(constraint.clone()),
        ..args.generate.options()
    };

    let mut report = ConstrainedReport::new(args, &pretrained, &prompt, constraint);
    let generation =
        generate::cached(&pretrained.model, &prompt, &options, &mut |chosen| report.step(chosen))?;
    report.finish(&generation)
}
