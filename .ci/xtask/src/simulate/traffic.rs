//! The requests of a run, drawn from a seed.

use std::fmt;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, Gamma};
use serde::Serialize;

use super::log::Log;
use super::request::Request;

/// How the times between arrivals are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// Exponential: every moment is as likely
    Poisson,
    /// Gamma, with a coefficient of variation of 4: many at once, then a long pause
    Bursts,
}

impl Arrivals {
    /// The standard deviation of the times between arrivals over their mean. That bursts follow a
    /// gamma distribution is a finding of Wang et al., BurstGPT, 2024 (arXiv 2401.17644). Of the
    /// traces that [`Log`] imitates, conversation has 1.1, which is nearly Poisson, and code 13;
    /// the 4 is an assumption between the two.
    fn variation(self) -> f64 {
        match self {
            Self::Poisson => 1.0,
            Self::Bursts => 4.0,
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Poisson => "Poisson arrivals",
            Self::Bursts => "arrivals in bursts",
        })
    }
}

/// What determines the requests, their rate excepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    pub seed: u64,
    pub count: usize,
    pub arrivals: Arrivals,
    pub log: Log,
    /// The factor on all lengths of the log.
    pub scale: f64,
    /// The most tokens of a request.
    pub context: usize,
    /// The length of the common system prompt.
    pub shared_prompt: usize,
    /// The share of requests that begin with it, from 0 to 1.
    pub shared_share: f64,
    /// How many different system prompts there are.
    pub prefixes: usize,
}

/// So that the memory of this machine is not what ends a simulation.
const MOST_REQUESTS: usize = 10_000_000;
const LONGEST_CONTEXT: usize = 10_000_000;

/// Requests, and how many of them are not as they were drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Requests {
    pub list: Vec<Request>,
    /// How many were shortened to fit into the context.
    pub shortened: usize,
}

/// The means of some requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanLengths {
    pub prompt: f64,
    pub output: f64,
}

impl Traffic {
    /// Conversations in a context, none of which share a prompt.
    pub fn conversation(count: usize, context: usize) -> Self {
        Self {
            seed: 1,
            count,
            arrivals: Arrivals::Poisson,
            log: Log::Conversation,
            scale: 1.0,
            context,
            shared_prompt: 0,
            shared_share: 1.0,
            prefixes: 1,
        }
    }

    fn check(&self) -> Result<()> {
        ensure!(
            (1..=MOST_REQUESTS).contains(&self.count),
            "from 1 to {MOST_REQUESTS} requests can be simulated, not {}",
            self.count
        );
        ensure!(
            (2..=LONGEST_CONTEXT).contains(&self.context),
            "a context has from 2 to {LONGEST_CONTEXT} tokens, not {}",
            self.context
        );
        ensure!(
            self.scale > 0.0 && self.scale.is_finite(),
            "the scale of lengths is a number above 0, not {}",
            self.scale
        );
        ensure!(
            (0.0..=1.0).contains(&self.shared_share),
            "the share of requests with the system prompt is from 0 to 1, not {}",
            self.shared_share
        );
        ensure!(
            self.shared_prompt <= self.context - 2,
            "a system prompt of {} tokens leaves no room for a request in a context of {}",
            self.shared_prompt,
            self.context
        );
        ensure!(
            (1..=MOST_REQUESTS).contains(&self.prefixes),
            "there are from 1 to {MOST_REQUESTS} system prompts, not {}",
            self.prefixes
        );
        Ok(())
    }

    /// The requests, with one arrival per second on average.
    pub fn requests(&self) -> Result<Requests> {
        self.check()?;
        // A gamma distribution with a mean of 1. With a variation of 1 it is exponential.
        let shape = self.arrivals.variation().powi(-2);
        let gap = Gamma::new(shape, 1.0 / shape).map_err(anyhow::Error::msg)?;
        let prompt = self.log.prompt().distribution(self.scale)?;
        let output = self.log.output().distribution(self.scale)?;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let (mut now, mut shortened) = (0.0, 0);
        let list = (0..self.count).map(|index| {
            now += gap.sample(&mut random);
            let drawn = [&prompt, &output].map(|length| length.sample(&mut random).round());
            // A conversion of a number that is too large gives the largest.
            let [own, output] = drawn.map(|tokens| (tokens as usize).clamp(1, self.context));
            // Drawn for every request, so that a share does not affect lengths.
            let is_shared = random_share(&mut random) < self.shared_share;
            // Nothing is drawn where there is no choice.
            let prefix = match self.prefixes {
                1 => 0,
                prefixes => (random_share(&mut random) * prefixes as f64) as usize,
            };
            let shared = if is_shared { self.shared_prompt } else { 0 };
            // A long prompt leaves room for its output.
            let room = self.context - shared;
            let fitting_output = output.min(room / 2);
            let fitting = own.min(room - fitting_output);
            shortened += usize::from(fitting < own || fitting_output < output);
            Request {
                arrival: now,
                prompt: shared + fitting,
                shared,
                prefix,
                output: fitting_output,
                seed: self.seed,
                index,
            }
        });
        Ok(Requests { list: list.collect(), shortened })
    }
}

/// A number from 0 on and below 1.
fn random_share(random: &mut ChaCha8Rng) -> f64 {
    f64::from(random.next_u32()) / 2f64.powi(32)
}

impl Requests {
    /// The same requests, with `rate` arrivals per second on average.
    pub fn at_rate(mut self, rate: f64) -> Result<Self> {
        ensure!(rate > 0.0 && rate.is_finite(), "a rate is a number above 0, not {rate}");
        for request in &mut self.list {
            request.arrival /= rate;
        }
        Ok(self)
    }

    pub fn mean_lengths(&self) -> MeanLengths {
        let mean = |length: fn(&Request) -> usize| {
            self.list.iter().map(length).sum::<usize>() as f64 / self.list.len() as f64
        };
        MeanLengths {
            prompt: mean(|request| request.prompt),
            output: mean(|request| request.output),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::percentiles::{percentile, sorted};
    use super::*;

    /// Conversation in a context of 4096.
    pub fn traffic(count: usize) -> Traffic {
        Traffic::conversation(count, 4096)
    }

    /// Mean and coefficient of variation of the times between arrivals.
    fn gaps(requests: &Requests) -> (f64, f64) {
        let arrivals: Vec<f64> = requests.list.iter().map(|request| request.arrival).collect();
        let gaps: Vec<f64> = arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn arrivals_have_their_rate_and_their_variation() {
        for (arrivals, expected) in [(Arrivals::Poisson, 1.0), (Arrivals::Bursts, 4.0)] {
            let traffic = Traffic { arrivals, ..traffic(40_000) };
            let (mean, variation) = gaps(&traffic.requests().unwrap().at_rate(20.0).unwrap());
            assert!((mean * 20.0 - 1.0).abs() < 0.05, "{arrivals}: {mean}");
            assert!((variation / expected - 1.0).abs() < 0.05, "{arrivals}: {variation}");
        }
    }

    #[test]
    fn lengths_have_the_medians_of_the_log_and_fit_into_the_context() {
        let requests = traffic(20_000).requests().unwrap();
        let median = |length: fn(&Request) -> usize| {
            let lengths = requests.list.iter().map(|request| length(request) as f64);
            percentile(&sorted(lengths.collect()), 50.0)
        };
        assert!((median(|request| request.prompt) / 1020.0 - 1.0).abs() < 0.04);
        assert!((median(|request| request.output) / 129.0 - 1.0).abs() < 0.04);
        let longest = requests.list.iter().map(|request| request.prompt + request.output).max();
        assert_eq!(longest, Some(4096));
        assert!((200..2000).contains(&requests.shortened), "{}", requests.shortened);
    }

    #[test]
    fn the_same_seed_gives_the_same_requests_and_a_share_changes_no_length() {
        let shared = Traffic { shared_prompt: 100, shared_share: 0.25, ..traffic(4000) };
        let (a, b) = (shared.requests().unwrap(), shared.requests().unwrap());
        assert_eq!(a, b);
        let other = Traffic { seed: 2, ..shared }.requests().unwrap();
        assert_ne!(a, other);
        let with = a.list.iter().filter(|request| request.shared == 100).count();
        assert!((900..1100).contains(&with), "{with}");
        let alone = traffic(4000).requests().unwrap();
        for (a, b) in a.list.iter().zip(&alone.list) {
            assert_eq!(a.arrival, b.arrival);
            assert!(a.prompt - a.shared == b.prompt || a.prompt + a.output == 4096);
        }
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let refused = [
            Traffic { count: 0, ..traffic(1) },
            Traffic { count: usize::MAX, ..traffic(1) },
            Traffic { context: 1, ..traffic(1) },
            Traffic { context: usize::MAX, ..traffic(1) },
            Traffic { shared_prompt: usize::MAX, ..traffic(1) },
            Traffic { scale: 0.0, ..traffic(1) },
            Traffic { scale: f64::NAN, ..traffic(1) },
            Traffic { shared_share: 1.5, ..traffic(1) },
            Traffic { shared_prompt: 4095, ..traffic(1) },
            Traffic { prefixes: 0, ..traffic(1) },
            Traffic { prefixes: usize::MAX, ..traffic(1) },
        ];
        for traffic in refused {
            assert!(traffic.requests().is_err(), "{traffic:?}");
        }
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(traffic(1).requests().unwrap().at_rate(rate).is_err());
        }
        // The largest lengths are shortened like others.
        let endless = Traffic { scale: 1e300, ..traffic(5) }.requests().unwrap();
        assert!(
            endless.list.iter().all(|request| request.prompt == 2048 && request.output == 2048)
        );
    }
}
