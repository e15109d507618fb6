//! The bundled model in this build and in an older one: `06_batching --compare` of both, in turns.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use exercises_runner::cargo::cargo;
use serde::Deserialize;

use super::measured::median;

/// The measurements of both builds, by round.
pub struct Before {
    rounds: Vec<(Sizes, Sizes)>,
}

/// The fields of `06_batching --compare --json` that are used here.
#[derive(Debug, Clone, Deserialize)]
struct Sizes {
    batch_sizes: Vec<Size>,
}

#[derive(Debug, Clone, Deserialize)]
struct Size {
    sequences: usize,
    tokens_per_second: f64,
}

impl Before {
    /// Runs the example from this source tree, and `older`, an executable of the same example.
    pub fn measure(older: &Path, rounds: usize) -> Result<Self> {
        let newer = build()?;
        let mut found = Vec::new();
        for round in 0..rounds {
            found.push(match round % 2 {
                0 => {
                    let now = compare(&newer)?;
                    (now, compare(older)?)
                }
                _ => {
                    let before = compare(older)?;
                    (compare(&newer)?, before)
                }
            });
        }
        Ok(Self { rounds: found })
    }

    /// For each batch size, the speedup over the older build: the median of the rounds.
    pub fn ratios(&self) -> Vec<(usize, f64)> {
        let sizes = self.rounds.first().map(|(now, _)| now.batch_sizes.as_slice());
        let sizes = sizes.unwrap_or_default().iter().map(|size| size.sequences);
        let ratio =
            |sequences| {
                let rounds = self.rounds.iter();
                median(rounds.filter_map(|(now, before)| {
                    Some(now.rate(sequences)? / before.rate(sequences)?)
                }))
            };
        sizes.map(|sequences| (sequences, ratio(sequences))).collect()
    }

    /// A row for each batch size.
    pub fn table(&self) -> String {
        let mut table = "| sequences | now, tokens/s | before, tokens/s | now / before |\n\
                         |--:|--:|--:|--:|\n"
            .to_owned();
        for (sequences, ratio) in self.ratios() {
            let now = median(self.rounds.iter().filter_map(|(now, _)| now.rate(sequences)));
            let before =
                median(self.rounds.iter().filter_map(|(_, before)| before.rate(sequences)));
            table += &format!("| {sequences} | {now:.0} | {before:.0} | {ratio:.2} |\n");
        }
        table
    }
}

impl Sizes {
    fn rate(&self, sequences: usize) -> Option<f64> {
        let size = self.batch_sizes.iter().find(|size| size.sequences == sequences)?;
        Some(size.tokens_per_second)
    }
}

fn build() -> Result<PathBuf> {
    let arguments = ["build", "--quiet", "--example", "06_batching"];
    let status = cargo().args(arguments).status().context("cannot run cargo")?;
    ensure!(status.success(), "06_batching could not be built");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let program = format!("06_batching{}", env::consts::EXE_SUFFIX);
    Ok(target.join("debug/examples").join(program))
}

fn compare(program: &Path) -> Result<Sizes> {
    let output = Command::new(program).args(["--compare", "--json"]).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", program.display());
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{} printed no sizes of batches", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(rates: &[(usize, f64)]) -> Sizes {
        let object = |(sequences, rate): &(usize, f64)| {
            serde_json::json!({
                "sequences": sequences,
                "tokens_per_second": rate,
                "seconds_per_token": 0.1,
            })
        };
        let sizes: Vec<_> = rates.iter().map(object).collect();
        let printed = serde_json::json!({ "batch_sizes": sizes, "throughput_saturates_at": 4 });
        serde_json::from_value(printed).unwrap()
    }

    #[test]
    fn the_ratio_of_each_size_is_the_median_of_the_rounds() {
        let before = || sizes(&[(1, 10.0), (4, 20.0)]);
        let rounds = [(12.0, 30.0), (11.0, 40.0), (30.0, 10.0)]
            .map(|(one, four)| (sizes(&[(1, one), (4, four)]), before()));
        let before = Before { rounds: rounds.into() };
        assert_eq!(before.ratios(), [(1, 1.2), (4, 1.5)]);
        assert!(before.table().ends_with("| 1 | 12 | 10 | 1.20 |\n| 4 | 30 | 20 | 1.50 |\n"));
    }
}
