//! When requests arrive.

use clap::ValueEnum;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1};
use serde::Serialize;

/// How the times between arrivals are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Exponential: every moment is as likely
    Poisson,
    /// All times are the same
    Constant,
}

impl Arrivals {
    /// The seconds from the start to each of `count` arrivals, `rate` per second on average. The
    /// first is at the start.
    pub fn times(self, count: usize, rate: f64, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut gap = move || -> f64 {
            match self {
                Self::Poisson => Exp1.sample(&mut random),
                Self::Constant => 1.0,
            }
        };
        let next = |now: &mut f64, _| {
            let arrival = *now;
            *now += gap() / rate;
            Some(arrival)
        };
        (0..count).scan(0.0, next).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_arrivals_are_as_far_apart_as_the_rate_says() {
        assert_eq!(Arrivals::Constant.times(4, 2.0, 1), [0.0, 0.5, 1.0, 1.5]);
    }

    #[test]
    fn poisson_arrivals_have_their_rate_and_their_variation() {
        let times = Arrivals::Poisson.times(40_001, 20.0, 1);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean * 20.0 - 1.0).abs() < 0.03, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn a_seed_gives_the_same_arrivals_and_a_rate_only_scales_them() {
        let times = |rate, seed| Arrivals::Poisson.times(50, rate, seed);
        assert_eq!(times(1.0, 7), times(1.0, 7));
        assert_ne!(times(1.0, 7), times(1.0, 8));
        for (slow, fast) in times(1.0, 7).iter().zip(times(4.0, 7)) {
            assert!((slow / 4.0 - fast).abs() < 1e-9);
        }
    }
}
