//! `cargo xtask mutants`: bugs that others had, planted into the scheduler and into the threads
//! around it, must be found by their tests.

mod planted;
mod scheduler;
mod threads;

use anyhow::Result;

pub fn run() -> Result<()> {
    // All of them, so that one run says what both miss.
    let results = [&scheduler::SUITE, &threads::SUITE].map(planted::Suite::find_all);
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// `cargo xtask mutants` takes too long for every change. That its edits fit is seen at once.
    #[test]
    fn every_bug_can_be_planted() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src");
        for mutant in
            [&scheduler::SUITE, &threads::SUITE].into_iter().flat_map(|suite| suite.mutants)
        {
            for edit in mutant.edits {
                edit.applied(&source).unwrap_or_else(|error| panic!("{}: {error}", mutant.name));
            }
        }
    }
}
