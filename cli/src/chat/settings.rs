//! What `/set` changes.

use std::fmt::Display;
use std::str::FromStr;

use slowburn::RequestError;
use slowburn::sampling::SamplingParams;

use super::error::{Error, Result};

/// How answers are sampled, and how long they may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub sampling: SamplingParams,
    /// None: as many as the context holds.
    pub max_tokens: Option<usize>,
    /// Of what a model thinks before it answers. None: as many as it likes.
    pub max_reasoning_tokens: Option<usize>,
}

/// What takes a rule or a limit away.
const OFF: &str = "off";

impl Settings {
    /// Changes a setting, or on an error nothing.
    ///
    /// # Errors
    /// A setting that there is not; a value out of its range.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let mut changed = self.clone();
        let sampling = &mut changed.sampling;
        match name.replace('-', "_").as_str() {
            "temperature" => sampling.temperature = number("temperature", value)?,
            "top_k" => sampling.top_k = number_or_off("top_k", value)?,
            "top_p" => sampling.top_p = number_or_off("top_p", value)?,
            "min_p" => sampling.min_p = number_or_off("min_p", value)?,
            "typical_p" => sampling.typical_p = number_or_off("typical_p", value)?,
            "repetition_penalty" => {
                sampling.repetition_penalty = number("repetition_penalty", value)?;
            }
            "frequency_penalty" => sampling.frequency_penalty = number("frequency_penalty", value)?,
            "presence_penalty" => sampling.presence_penalty = number("presence_penalty", value)?,
            "seed" => sampling.seed = whole("seed", value)?,
            "max_tokens" if value == OFF => changed.max_tokens = None,
            "max_tokens" => changed.max_tokens = Some(whole("max_tokens", value)?),
            "max_reasoning_tokens" => {
                changed.max_reasoning_tokens = number_or_off("max_reasoning_tokens", value)?;
            }
            _ => {
                let names = self.rows().map(|(name, _)| name).join(", ");
                return Err(Error::NoSetting { name: name.to_owned(), names });
            }
        }
        changed.check()?;
        *self = changed;
        Ok(())
    }

    /// Checks each setting.
    ///
    /// # Errors
    /// The first that is out of its range.
    pub fn check(&self) -> Result<()> {
        if self.max_tokens == Some(0) {
            return Err(wrong("max_tokens", "0", "1 or greater, or off"));
        }
        Ok(self.sampling.validate()?)
    }

    /// The settings, by their names.
    pub fn rows(&self) -> [(&'static str, String); 11] {
        let Self { sampling, max_tokens, max_reasoning_tokens } = self;
        [
            ("temperature", sampling.temperature.to_string()),
            ("top_k", or_off(sampling.top_k)),
            ("top_p", or_off(sampling.top_p)),
            ("min_p", or_off(sampling.min_p)),
            ("typical_p", or_off(sampling.typical_p)),
            ("repetition_penalty", sampling.repetition_penalty.to_string()),
            ("frequency_penalty", sampling.frequency_penalty.to_string()),
            ("presence_penalty", sampling.presence_penalty.to_string()),
            ("seed", sampling.seed.to_string()),
            ("max_tokens", or_off(*max_tokens)),
            ("max_reasoning_tokens", or_off(*max_reasoning_tokens)),
        ]
    }
}

fn or_off(value: Option<impl Display>) -> String {
    value.map_or_else(|| OFF.to_owned(), |value| value.to_string())
}

fn number_or_off<T: FromStr>(name: &'static str, value: &str) -> Result<Option<T>> {
    if value == OFF {
        return Ok(None);
    }
    value.parse().map(Some).map_err(|_| wrong(name, value, "a number, or off"))
}

fn number(name: &'static str, value: &str) -> Result<f32> {
    value.parse().map_err(|_| wrong(name, value, "a number"))
}

fn whole<T: FromStr>(name: &'static str, value: &str) -> Result<T> {
    value.parse().map_err(|_| wrong(name, value, "a whole number"))
}

fn wrong(name: &'static str, value: &str, allowed: &'static str) -> Error {
    let value = value.to_owned();
    slowburn::Error::from(RequestError::Parameter { name, value, allowed }).into()
}
