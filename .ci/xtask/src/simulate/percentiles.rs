//! Percentiles of times.

use serde::Serialize;

/// The percentiles that are reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    pub p50: f64,
    pub p99: f64,
}

impl Percentiles {
    /// Of values in ascending order.
    pub fn of(values: &[f64]) -> Self {
        Self { p50: percentile(values, 50.0), p99: percentile(values, 99.0) }
    }
}

/// The smallest of these values in ascending order that at least `percent` percent of them do not
/// exceed (nearest rank); NaN if there are none.
pub fn percentile(values: &[f64], percent: f64) -> f64 {
    let rank = (percent / 100.0 * values.len() as f64).ceil() as usize;
    let index = rank.max(1) - 1;
    values.get(index).copied().unwrap_or(f64::NAN)
}

/// The values in ascending order.
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values = sorted((1..=200).rev().map(f64::from).collect());
        let found = [0.0, 0.5, 50.0, 99.0, 99.1, 100.0].map(|p| percentile(&values, p));
        assert_eq!(found, [1.0, 1.0, 100.0, 198.0, 199.0, 200.0]);
        assert_eq!(Percentiles::of(&[3.0]), Percentiles { p50: 3.0, p99: 3.0 });
        assert!(percentile(&[], 50.0).is_nan());
    }
}
