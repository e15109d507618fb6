//! `cargo xtask exercises`: checks the exercises, and writes their lists for the book.

#[path = "../../../../solutions/edits/mod.rs"]
mod edits;
mod layout;
mod pages;
mod source;
mod verify;

use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum ExercisesCommand {
    /// Check that stubs fail, solutions pass, wrong answers are rejected and right ones accepted
    Verify(verify::VerifyArgs),
    /// Write the list of exercises of each chapter for the book
    Pages(pages::PagesArgs),
}

pub fn run(command: &ExercisesCommand) -> Result<()> {
    match command {
        ExercisesCommand::Verify(args) => verify::run(args),
        ExercisesCommand::Pages(args) => pages::run(args),
    }
}
