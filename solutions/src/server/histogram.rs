//! Percentiles from a histogram, as `/metrics` shows it.
//!
//! Why: you can add counts, over servers and over time, but not percentiles. And because the counts
//! are cumulative, the percentile is in the first bucket whose count reaches its rank.
//!
//! What it costs: accuracy. All you know is the bucket, so the bounds should be close where the
//! answer matters: around the time that was promised. Prometheus guesses a value within the bucket
//! by a straight line, which is a guess all the same.
//!
//! A common wrong turn: the mean of the p99s of two servers. A server with ten requests would count
//! as much as one with a million.

/// Counts values by size: for each of several bounds, how many values were no greater.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// In milliseconds, from the least to the greatest.
    pub bounds: Vec<u64>,
    /// For each bound, the number of values up to it, and at the end the number of all.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// No value yet.
    pub fn new(bounds: &[u64]) -> Self {
        Self { bounds: bounds.to_vec(), counts: vec![0; bounds.len() + 1] }
    }

    /// Counts a value, in milliseconds.
    pub fn observe(&mut self, value: u64) {
        let first = self.bounds.partition_point(|&bound| bound < value);
        for count in &mut self.counts[first..] {
            *count += 1;
        }
    }

    /// Adds the values of another server, where it has the same bounds.
    pub fn add(&mut self, other: &Histogram) -> bool {
        if self.bounds != other.bounds {
            return false;
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        true
    }

    /// Between which two bounds the percentile by nearest rank lies.
    pub fn percentile(&self, per_mille: u64) -> Option<(u64, Option<u64>)> {
        let total = *self.counts.last().filter(|total| **total > 0)?;
        // The product needs more than 64 bits; the rank does not.
        let rank = (u128::from(total) * u128::from(per_mille)).div_ceil(1000) as u64;
        let bucket = self.counts.iter().position(|&count| count >= rank)?;
        let below = bucket.checked_sub(1).map_or(0, |before| self.bounds[before]);
        Some((below, self.bounds.get(bucket).copied()))
    }
}
