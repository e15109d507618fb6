//! The time that a step takes.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use super::request::Request;
use super::work::Work;

/// The cost of a step, in seconds: linear in its [`Work`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StepCost {
    /// Of every step: reading the weights, starting kernels and threads.
    pub fixed: f64,
    /// Of a prefill token: the arithmetic of all matrices.
    pub prefill_token: f64,
    /// Of a decode: the same, the head, and a row of logits.
    pub decode_token: f64,
    /// Of a position that a decode attends to.
    pub decode_position: f64,
    /// Of a position that a prefill token attends to. On a GPU less than the one above: a block of
    /// keys and values is read once for many tokens of a prompt, but for one token of a decode.
    pub prefill_position: f64,
}

const MICROSECONDS: f64 = 1e-6;

impl StepCost {
    /// The number of coefficients.
    pub const LEN: usize = 5;

    pub fn from_coefficients(coefficients: [f64; Self::LEN]) -> Self {
        let [
            fixed,
            prefill_token,
            decode_token,
            decode_position,
            prefill_position,
        ] = coefficients;
        Self {
            fixed,
            prefill_token,
            decode_token,
            decode_position,
            prefill_position,
        }
    }

    pub fn coefficients(&self) -> [f64; Self::LEN] {
        [
            self.fixed,
            self.prefill_token,
            self.decode_token,
            self.decode_position,
            self.prefill_position,
        ]
    }

    /// What the coefficients are multiplied with.
    pub fn factors(work: &Work) -> [f64; Self::LEN] {
        [
            1,
            work.prefill,
            work.decode,
            work.decode_positions,
            work.prefill_positions,
        ]
        .map(|factor: u64| factor as f64)
    }

    /// The seconds of a step with this work.
    pub fn of(&self, work: &Work) -> f64 {
        self.coefficients().iter().zip(Self::factors(work)).map(|(a, b)| a * b).sum()
    }

    /// The seconds of a request that runs alone: its prompt in one step, then a step for each
    /// token but the first.
    pub fn alone(&self, request: &Request) -> f64 {
        let steps = request.output as f64;
        let mut work = Work::default();
        work.add(0, request.prompt, request.prompt);
        // Its decodes attend to `prompt + 1` to `prompt + output - 1` positions.
        work.decode = request.output as u64 - 1;
        work.decode_positions =
            work.decode * request.prompt as u64 + work.decode * (work.decode + 1) / 2;
        self.of(&work) + (steps - 1.0) * self.fixed
    }
}

/// Four or five numbers with commas between them, in microseconds.
impl FromStr for StepCost {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |part: &str| {
            let number: f64 =
                part.trim().parse().with_context(|| format!("`{part}` is not a number"))?;
            ensure!(number >= 0.0 && number.is_finite(), "`{part}` is not a time");
            Ok(number * MICROSECONDS)
        };
        let numbers = text.split(',').map(number).collect::<Result<Vec<_>>>()?;
        let cost = match numbers[..] {
            [fixed, prefill, decode, position] => {
                Self::from_coefficients([fixed, prefill, decode, position, position])
            }
            [fixed, prefill, decode, position, prefill_position] => {
                Self::from_coefficients([fixed, prefill, decode, position, prefill_position])
            }
            _ => bail!("{} numbers, where a cost has 4 or 5", numbers.len()),
        };
        ensure!(cost.fixed > 0.0, "a step takes time: the first number is above 0");
        Ok(cost)
    }
}

/// The form that is read, with three significant digits.
impl fmt::Display for StepCost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.coefficients().map(|seconds| significant(seconds / MICROSECONDS));
        out.write_str(&numbers.join(","))
    }
}

/// Three significant digits.
pub fn significant(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2.0 - number.abs().log10().floor()).max(0.0) as usize;
    format!("{number:.decimals$}")
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Coefficients that differ by enough to tell them apart.
    pub fn cost() -> StepCost {
        "500,60,50,0.08,0.07".parse().unwrap()
    }

    #[test]
    fn a_cost_is_linear_in_the_work() {
        let work = Work {
            prefill: 10,
            prefill_positions: 55,
            decode: 2,
            decode_positions: 30,
        };
        let expected = 500.0 + 600.0 + 100.0 + 30.0 * 0.08 + 55.0 * 0.07;
        assert!((cost().of(&work) - 1e-6 * expected).abs() < 1e-12);
    }

    #[test]
    fn a_request_alone_takes_the_sum_of_its_steps() {
        let request = Request { prompt: 7, output: 4, ..Request::default() };
        let mut steps = cost().of(&Work::prompt(7));
        for before in 7..10 {
            let mut work = Work::default();
            work.add(before, 1, 7);
            steps += cost().of(&work);
        }
        assert!((cost().alone(&request) - steps).abs() < 1e-12);
    }

    #[test]
    fn costs_are_read_and_what_is_none_is_refused() {
        let four: StepCost = "500, 60,50,0.08".parse().unwrap();
        assert_eq!(four.prefill_position, four.decode_position);
        assert_eq!(
            "500,60,50.0,0.08, 0.07".parse::<StepCost>().unwrap().to_string(),
            "500,60.0,50.0,0.0800,0.0700"
        );
        for text in [
            "",
            "1,2,3",
            "1,2,3,4,5,6",
            "1,2,x,4",
            "1,-2,3,4",
            "0,1,1,1",
            "inf,1,1,1",
        ] {
            assert!(text.parse::<StepCost>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_have_three_digits() {
        let found = [0.0, 0.012345, 1.5, 123.4, 5000.0].map(significant);
        assert_eq!(found, ["0", "0.0123", "1.50", "123", "5000"]);
    }
}
