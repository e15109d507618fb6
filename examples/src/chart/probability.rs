//! Validation of probabilities.

use super::error::{Error, Result};

/// Refuses probabilities that do not match the number of tokens, are outside 0 to 1, or sum to more
/// than 1.
pub(super) fn check(series: &str, probabilities: &[f32], tokens: usize) -> Result<()> {
    if probabilities.len() != tokens {
        return Err(Error::Length {
            series: series.to_owned(),
            values: probabilities.len(),
            tokens,
        });
    }
    let refuse =
        |value: f64, allowed| Err(Error::Value { series: series.to_owned(), value, allowed });
    if let Some(&wrong) = probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return refuse(f64::from(wrong), "a probability between 0 and 1");
    }
    let sum: f64 = probabilities.iter().map(|&p| f64::from(p)).sum();
    if sum > 1.001 {
        return refuse(sum, "1 in sum, or less where only some of the tokens are shown");
    }
    Ok(())
}
