//! Slow Burn's performance goals, as ratios, because absolute speeds depend on the machine.

use std::fmt::{self, Display, Formatter};
use std::iter;

use super::before::Before;
use super::contender::{Engine, Peer};
use super::dtype::Dtype::{self, F16, F32, Int4, Int4Rounded, Int8, Int8Rounded};
use super::measured::Phase::{self, Decode, Prefill};
use super::rounds::Case;
use crate::load_cost::LoadCost;
use crate::random_checkpoint::Shape;

/// A ratio and its limit.
pub struct Goal {
    pub what: String,
    pub limit: Limit,
    /// None if a contender was left out.
    pub measured: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

/// All measurements.
#[derive(Default)]
pub struct Results {
    pub cases: Vec<Case>,
    /// For the shape of SmolLM2, in f32.
    pub load: Option<LoadCost>,
    pub before: Option<Before>,
}

impl Goal {
    pub fn is_met(&self) -> bool {
        self.measured.is_some_and(|measured| match self.limit {
            Limit::AtLeast(least) => measured >= least,
            Limit::AtMost(most) => measured <= most,
        })
    }
}

impl Display for Limit {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(least) => write!(formatter, "≥ {least:.2}"),
            Self::AtMost(most) => write!(formatter, "≤ {most:.2}"),
        }
    }
}

/// The performance goals, with the measurements in `results`.
pub fn goals(results: &Results) -> Vec<Goal> {
    let smollm2 = Shape::SmolLm2_135m.name();
    let mut goals = of_one_sequence(results, smollm2);
    goals.extend(of_batches(results, smollm2));
    goals.extend(of_loading(results.load.as_ref(), smollm2));
    goals
}

fn of_one_sequence(results: &Results, smollm2: &str) -> Vec<Goal> {
    let ours = |dtype: Dtype| (Engine::Alone, dtype);
    let llama_cpp = |dtype: Dtype| (Engine::Peer(Peer::LlamaCpp), dtype);
    let mut goals = Vec::new();
    for (model, tokens, phase, least) in [
        (smollm2, 128, Decode, 1.1),
        (smollm2, 128, Prefill, 2.2),
        (smollm2, 1800, Decode, 1.3),
        (smollm2, 1800, Prefill, 1.4),
        (Shape::Stories15m.name(), 128, Decode, 1.1),
    ] {
        let pair = [ours(F32), llama_cpp(F32)];
        goals.push(results.at_least(least, (model, tokens, phase), "f32 / llama.cpp's", pair));
    }
    for (tokens, phase, least) in [
        (128, Decode, 1.7),
        (128, Prefill, 0.9),
        (1800, Decode, 1.7),
        (1800, Prefill, 0.9),
    ] {
        let pair = [ours(F16), ours(F32)];
        goals.push(results.at_least(least, (smollm2, tokens, phase), "f16 / f32", pair));
    }
    for (dtype, tokens, phase, least) in [
        (Int8, 128, Decode, 1.3),
        (Int8, 1800, Decode, 1.2),
        (Int8, 128, Prefill, 1.5),
        (Int8, 1800, Prefill, 1.5),
        (Int4, 128, Decode, 1.1),
        (Int8Rounded, 128, Decode, 1.3),
        (Int8Rounded, 1800, Decode, 1.2),
        (Int8Rounded, 128, Prefill, 1.5),
        (Int8Rounded, 1800, Prefill, 1.5),
        (Int4Rounded, 128, Decode, 1.1),
    ] {
        let pair = [ours(dtype), llama_cpp(dtype.weights())];
        let what = format!("{} / llama.cpp's", dtype.name());
        goals.push(results.at_least(least, (smollm2, tokens, phase), &what, pair));
    }
    for dtype in [Int4, Int4Rounded] {
        let pair = [ours(dtype), ours(Int8)];
        let what = format!("{} / int8", dtype.name());
        goals.push(results.at_least(1.4, (smollm2, 128, Decode), &what, pair));
    }
    goals
}

fn of_batches(results: &Results, smollm2: &str) -> Vec<Goal> {
    let of_8 = Goal {
        what: format!("{smollm2}, decode after 128, a batch of 8 / one"),
        limit: Limit::AtLeast(5.0),
        measured: results.batch_of_8(smollm2),
    };
    let before = results.before.iter().flat_map(|before| before.ratios());
    let before = before.map(|(sequences, ratio)| Goal {
        what: format!("ember, {sequences} at once, now / before"),
        limit: Limit::AtLeast(1.0),
        measured: Some(ratio),
    });
    iter::once(of_8).chain(before).collect()
}

fn of_loading(load: Option<&LoadCost>, smollm2: &str) -> [Goal; 2] {
    [
        Goal {
            what: format!("{smollm2}, loading / reading the file"),
            limit: Limit::AtMost(1.3),
            measured: load.map(LoadCost::times_reading),
        },
        Goal {
            what: format!("{smollm2}, peak memory / weights and cache"),
            limit: Limit::AtMost(1.15),
            measured: load.map(LoadCost::peak_ratio),
        },
    ]
}

impl Results {
    fn case(&self, model: &str, tokens: usize) -> Option<&Case> {
        let mut cases = self.cases.iter();
        cases.find(|case| case.model == model && case.workload.prompt.len() == tokens)
    }

    /// The goal that the first of two engines is `least` times as fast as the second.
    fn at_least(
        &self,
        least: f64,
        (model, tokens, phase): (&str, usize, Phase),
        what: &str,
        [one, other]: [(Engine, Dtype); 2],
    ) -> Goal {
        let place = match phase {
            Prefill => format!("prefill of {tokens}"),
            Decode => format!("decode after {tokens}"),
        };
        let measured = self.case(model, tokens).and_then(|case| {
            let (one, other) = (case.row(one.0, one.1)?, case.row(other.0, other.1)?);
            Some(case.ratio(one, other, phase))
        });
        Goal {
            what: format!("{model}, {place}, {what}"),
            limit: Limit::AtLeast(least),
            measured,
        }
    }

    /// The decode throughput of a batch of eight, relative to one sequence alone.
    fn batch_of_8(&self, model: &str) -> Option<f64> {
        let case = self.case(model, 128)?;
        let batch = case.row(Engine::Batch, F32).filter(|batch| batch.sequences == 8)?;
        Some(case.ratio(batch, case.row(Engine::Alone, F32)?, Decode))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::tests;
    use super::*;

    #[test]
    fn goals_are_found_in_the_cases_that_they_are_about() {
        let mut case = tests::case(
            "smollm2-135m",
            &[
                (Engine::Alone, F32, 1, &[(1.0, 2.0)]),
                (Engine::Alone, F16, 1, &[(1.0, 1.0)]),
                (Engine::Batch, F32, 8, &[(8.0, 4.0)]),
                (Engine::Peer(Peer::LlamaCpp), F32, 1, &[(3.0, 3.0)]),
            ],
        );
        case.workload.prompt = vec![1; 128];
        let results = Results { cases: vec![case], ..Results::default() };
        let goals = goals(&results);
        let measured = |what: &str| goals.iter().find(|goal| goal.what == what).unwrap().measured;
        let llama = "smollm2-135m, decode after 128, f32 / llama.cpp's";
        assert_eq!(measured(llama), Some(1.5));
        assert_eq!(measured("smollm2-135m, prefill of 128, f32 / llama.cpp's"), Some(3.0));
        assert_eq!(measured("smollm2-135m, decode after 128, f16 / f32"), Some(2.0));
        assert_eq!(measured("smollm2-135m, decode after 128, a batch of 8 / one"), Some(4.0));
        assert_eq!(measured("smollm2-135m, prefill of 1800, f16 / f32"), None);
        let met: Vec<bool> = goals.iter().map(Goal::is_met).collect();
        assert_eq!(met.iter().filter(|met| **met).count(), 4);
    }

    #[test]
    fn limits_hold_at_their_ends() {
        let goal = |limit| Goal { what: String::new(), limit, measured: Some(1.3) };
        assert!(goal(Limit::AtLeast(1.3)).is_met() && goal(Limit::AtMost(1.3)).is_met());
        assert!(!goal(Limit::AtLeast(1.31)).is_met() && !goal(Limit::AtMost(1.29)).is_met());
    }
}
