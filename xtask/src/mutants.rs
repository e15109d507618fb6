//! `cargo xtask mutants`: bugs that others had, planted into the scheduler and into the threads
//! around it, must be found by their tests.

mod planted;
mod scheduler;
mod threads;

use anyhow::Result;

pub fn run() -> Result<()> {
    scheduler::SUITE.find_all()?;
    threads::SUITE.find_all()
}
