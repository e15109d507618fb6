//! What a server did at one level, over all rounds.

use std::collections::BTreeMap;

use serde::Serialize;

use super::level::Level;
use super::outcome::Outcome;
use crate::bench::median;
use crate::simulate::percentiles::{percentile, sorted};

/// The percentiles of a time, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
}

impl Percentiles {
    /// Of values in ascending order.
    fn of(values: &[f64]) -> Self {
        let [p50, p90, p99] = [50.0, 90.0, 99.0].map(|percent| percentile(values, percent));
        Self { p50, p90, p99 }
    }
}

/// The results of a server at one level. Percentiles are over the requests of all rounds.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub server: String,
    pub level: Level,
    /// How many answers had each status.
    pub statuses: BTreeMap<String, usize>,
    /// What was said of those that failed, each once.
    pub failures: Vec<String>,
    pub prompt_tokens: usize,
    /// How many of them came from prefix caches.
    pub cached_tokens: usize,
    pub output_tokens: usize,
    /// Output tokens per second: the median of the rounds.
    pub throughput: f64,
    /// Output tokens per second of each round.
    pub throughputs: Vec<f64>,
    pub time_to_first_token: Percentiles,
    pub inter_token: Percentiles,
    pub end_to_end: Percentiles,
    /// The longest time between a request's arrival and its sending. Where it isn't small, the
    /// client was too slow to keep to its schedule.
    pub latest: f64,
    #[serde(skip)]
    pub curves: Curves,
}

/// All times, in ascending order.
#[derive(Debug, Clone, Default)]
pub struct Curves {
    pub time_to_first_token: Vec<f64>,
    pub inter_token: Vec<f64>,
}

impl Report {
    pub fn new(server: &str, level: Level, rounds: &[Vec<Outcome>]) -> Self {
        let all = || rounds.iter().flatten();
        let usages = || all().filter_map(|found| found.usage);
        let mut statuses = BTreeMap::new();
        for outcome in all() {
            *statuses.entry(outcome.status()).or_insert(0) += 1;
        }
        let mut failures: Vec<String> = all().filter_map(|found| found.failure.clone()).collect();
        failures.sort_unstable();
        failures.dedup();
        let throughputs: Vec<f64> = rounds.iter().map(|round| throughput(round)).collect();
        let curves = Curves {
            time_to_first_token: sorted(all().filter_map(Outcome::time_to_first_token).collect()),
            inter_token: sorted(all().flat_map(Outcome::inter_token).collect()),
        };
        let end_to_end = sorted(all().filter_map(Outcome::end_to_end).collect());
        Self {
            server: server.to_owned(),
            level,
            statuses,
            failures,
            prompt_tokens: usages().map(|usage| usage.prompt_tokens).sum(),
            cached_tokens: usages().map(|usage| usage.cached_tokens()).sum(),
            output_tokens: all().map(Outcome::tokens).sum(),
            throughput: median(throughputs.iter().copied()),
            throughputs,
            time_to_first_token: Percentiles::of(&curves.time_to_first_token),
            inter_token: Percentiles::of(&curves.inter_token),
            end_to_end: Percentiles::of(&end_to_end),
            latest: all().map(|found| found.sent - found.arrival).fold(0.0, f64::max),
            curves,
        }
    }

    /// The throughput over that of `other`: the median of the rounds' ratios. A disturbance of one
    /// round affects both.
    pub fn ratio(&self, other: &Self) -> f64 {
        median(self.throughputs.iter().zip(&other.throughputs).map(|(own, other)| own / other))
    }
}

/// The output tokens per second of a round, from its first arrival to its last end.
fn throughput(round: &[Outcome]) -> f64 {
    let tokens: usize = round.iter().map(Outcome::tokens).sum();
    let first = round.iter().map(|outcome| outcome.arrival).fold(f64::INFINITY, f64::min);
    let last = round.iter().map(|outcome| outcome.end).fold(0.0, f64::max);
    tokens as f64 / (last - first)
}

#[cfg(test)]
pub mod tests {
    use super::super::outcome::{PromptDetails, Usage};
    use super::*;

    /// A text that was due at `arrival`, with a token at each of the times.
    pub fn outcome(arrival: f64, chunks: &[f64]) -> Outcome {
        Outcome {
            arrival,
            sent: arrival + 0.25,
            status: Some(200),
            failure: None,
            chunks: chunks.to_vec(),
            end: chunks.last().copied().unwrap_or(arrival),
            usage: Some(Usage {
                prompt_tokens: 10,
                completion_tokens: chunks.len(),
                prompt_tokens_details: Some(PromptDetails { cached_tokens: Some(4) }),
            }),
        }
    }

    #[test]
    fn times_count_from_the_arrival_and_tokens_from_the_first_to_the_last() {
        let refused = Outcome {
            arrival: 1.0,
            sent: 1.0,
            status: Some(429),
            failure: Some("full".to_owned()),
            end: 1.5,
            ..Outcome::default()
        };
        let rounds = [
            vec![
                outcome(0.0, &[1.0, 1.5, 3.0]),
                outcome(2.0, &[4.0]),
                refused,
            ],
            vec![outcome(0.0, &[2.0])],
        ];
        let report = Report::new("a", Level::Rate(1.0), &rounds);
        assert_eq!(report.throughputs, [1.0, 0.5]);
        assert_eq!(report.throughput, 0.75);
        assert_eq!((report.prompt_tokens, report.output_tokens), (30, 5));
        assert_eq!(report.cached_tokens, 12);
        assert_eq!(report.curves.time_to_first_token, [1.0, 2.0, 2.0]);
        assert_eq!(report.curves.inter_token, [0.5, 1.5]);
        assert_eq!(report.end_to_end, Percentiles { p50: 2.0, p90: 3.0, p99: 3.0 });
        let statuses: Vec<_> = report.statuses.into_iter().collect();
        assert_eq!(statuses, [("200".to_owned(), 3), ("429".to_owned(), 1)]);
        assert_eq!(report.failures, ["full"]);
        assert_eq!(report.latest, 0.25);
    }

    #[test]
    fn a_ratio_is_the_median_of_the_rounds_ratios() {
        let report = |seconds: [f64; 3]| {
            let rounds = seconds.map(|end| vec![outcome(0.0, &[end])]);
            Report::new("a", Level::Clients(1), &rounds)
        };
        // 2, 4 and 8 times as fast.
        assert_eq!(report([1.0, 1.0, 1.0]).ratio(&report([2.0, 4.0, 8.0])), 4.0);
    }
}
