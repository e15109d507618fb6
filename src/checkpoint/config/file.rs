//! Helpers of the readers of `config.json`.

use serde::{Deserialize, Deserializer};

use super::unsupported;
use crate::error::Result;
use crate::model::activation::Activation;

/// Distinguishes a field that is `null` (`Some(None)`) from a missing one (`None`).
pub(super) fn given<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

pub(super) fn activation(
    name: Option<&str>,
    default: Activation,
    field: &'static str,
    origin: &str,
) -> Result<Activation> {
    let Some(name) = name else { return Ok(default) };
    Activation::from_name(name).ok_or_else(|| unsupported(origin, field, name, Activation::NAMES))
}

/// A required number above 0, because it is a divisor.
pub(super) fn positive(value: Option<f64>, field: &'static str, origin: &str) -> Result<f64> {
    match value {
        Some(number) if number.is_finite() && number > 0.0 => Ok(number),
        other => Err(unsupported(origin, field, other, "a number above 0")),
    }
}
