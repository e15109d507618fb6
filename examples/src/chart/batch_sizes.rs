use std::path::Path;

use super::axis::Axis;
use super::error::Result;
use super::lines::{LineChart, Series, lines};

/// The measurements at one batch size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchSizePoint {
    pub sequences: usize,
    /// Throughput, summed over all sequences.
    pub tokens_per_second: f64,
    /// Time per output token of each sequence.
    pub seconds_per_token: f64,
}

/// Draws throughput and time per token against batch size, side by side.
///
/// # Errors
/// As [`lines`].
pub fn batch_sizes(path: &Path, title: &str, points: &[BatchSizePoint]) -> Result<()> {
    let chart = |label: &str, value: fn(&BatchSizePoint) -> f64| {
        let points = points.iter().map(|point| (point.sequences as f64, value(point)));
        LineChart {
            x: Axis::linear("sequences in the batch"),
            y: Axis::linear(label),
            series: vec![Series::new("", points)],
        }
    };
    let throughput = chart("throughput (tokens/s)", |point| point.tokens_per_second);
    let latency = chart("time per token (ms)", |point| 1e3 * point.seconds_per_token);
    lines(path, title, &[throughput, latency])
}
