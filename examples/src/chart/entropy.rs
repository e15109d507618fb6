use std::path::Path;

use super::axis::Axis;
use super::error::Result;
use super::lines::{LineChart, Series, lines};

/// Draws entropy and the effective number of tokens against temperature, side by side.
///
/// `points` are `(temperature, entropy in bits)`. A distribution of entropy H is as uncertain as
/// 2^H equally likely tokens: that is the effective number of tokens.
///
/// # Errors
/// As [`lines`].
pub fn entropy(path: &Path, title: &str, points: &[(f64, f64)]) -> Result<()> {
    let chart = |label: &str, points: Vec<(f64, f64)>| LineChart {
        x: Axis::linear("temperature"),
        y: Axis::linear(label),
        series: vec![Series::new("", points)],
    };
    let effective = points.iter().map(|&(temperature, bits)| (temperature, bits.exp2()));
    let charts = [
        chart("entropy (bits)", points.to_vec()),
        chart("effective number of tokens", effective.collect()),
    ];
    lines(path, title, &charts)
}
