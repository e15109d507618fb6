//! Percentiles of times.

use serde::Serialize;

/// The percentiles that are reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    pub p50: f64,
    pub p99: f64,
}

impl Percentiles {
    /// Reorders `values`.
    pub fn of(values: &mut [f64]) -> Self {
        Self { p50: percentile(values, 50.0), p99: percentile(values, 99.0) }
    }
}

/// The smallest value that is not exceeded by `percent` percent of the values (nearest rank); NaN
/// if there are none. Reorders `values`.
pub fn percentile(values: &mut [f64], percent: f64) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let rank = (percent / 100.0 * values.len() as f64).ceil() as usize;
    let index = rank.clamp(1, values.len()) - 1;
    *values.select_nth_unstable_by(index, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let mut values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let found = [0.0, 0.5, 50.0, 99.0, 99.1, 100.0].map(|p| percentile(&mut values, p));
        assert_eq!(found, [1.0, 1.0, 100.0, 198.0, 199.0, 200.0]);
        assert_eq!(Percentiles::of(&mut [3.0]), Percentiles { p50: 3.0, p99: 3.0 });
        assert!(percentile(&mut [], 50.0).is_nan());
    }
}
