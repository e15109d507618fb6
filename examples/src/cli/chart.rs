//! `--chart FILE`: an example's result as a figure.

use std::path::Path;

use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

use super::{Result, Setting};

/// A figure that an example draws.
pub enum Chart<'a> {
    /// The tokens that each setting keeps of the distribution with these `logits`, `[vocab]`.
    Survivors {
        logits: &'a [f32],
        settings: &'a [Setting],
    },
    /// The distribution at each temperature; in a `.gif`, at temperatures rising from the lowest to
    /// the highest.
    Temperatures {
        logits: &'a [f32],
        params: &'a SamplingParams,
        temperatures: &'a [f32],
    },
    /// Entropy and effective tokens at temperatures from 0 to 3.
    Entropy {
        logits: &'a [f32],
        params: &'a SamplingParams,
    },
}

/// Rejects a file that no figure can be drawn to, before its numbers are measured.
///
/// # Errors
/// An extension other than `.svg` and `.png`; always, without the feature `plot`.
#[cfg(not(feature = "plot"))]
pub fn check_chart(_: &Path) -> Result<()> {
    Err(super::Error::ChartsNotCompiled)
}

/// Rejects a file that no figure can be drawn to, before its numbers are measured.
///
/// # Errors
/// An extension other than `.svg` and `.png`.
#[cfg(feature = "plot")]
pub fn check_chart(path: &Path) -> Result<()> {
    Ok(crate::chart::check_still(path)?)
}

/// Draws a figure to `path`, whose extension selects the format. `prompt` is the ids before the
/// next token.
///
/// # Errors
/// An extension other than `.svg`, `.png` and `.gif`; a path that cannot be written; unusable
/// logits; always, without the feature `plot`.
#[cfg(not(feature = "plot"))]
pub fn draw(_: &Path, _: &Chart<'_>, _: &Pretrained, _: &[u32]) -> Result<()> {
    Err(super::Error::ChartsNotCompiled)
}

/// Draws a figure to `path`, whose extension selects the format. `prompt` is the ids before the
/// next token.
///
/// # Errors
/// An extension other than `.svg`, `.png` and `.gif`; a path that cannot be written; unusable
/// logits.
#[cfg(feature = "plot")]
pub fn draw(path: &Path, chart: &Chart<'_>, model: &Pretrained, prompt: &[u32]) -> Result<()> {
    plot::draw(path, chart, model, prompt)
}

#[cfg(feature = "plot")]
mod plot {
    use std::path::Path;

    use super::Chart;
    use crate::chart::{self, Distribution, Format, Survivors};
    use crate::cli::{Result, Setting};
    use slowburn::pretrained::Pretrained;
    use slowburn::sampling::statistics::{entropy_bits, ranked};
    use slowburn::sampling::{Sampler, SamplingParams, softmax};

    /// The number of tokens in each figure.
    const TEMPERATURES: usize = 12;
    const SURVIVORS: usize = 48;

    /// The number of temperatures in an animation and in a curve.
    const FRAMES: usize = 46;
    const POINTS: usize = 60;
    const HOTTEST: f32 = 3.0;

    pub fn draw(path: &Path, chart: &Chart<'_>, model: &Pretrained, prompt: &[u32]) -> Result<()> {
        let title = format!("The next token after {:?}", model.tokenizer.decode(prompt)?);
        match *chart {
            Chart::Survivors { logits, settings } => {
                survivors(path, &title, model, logits, settings)
            }
            Chart::Temperatures { logits, params, temperatures } => {
                let (lowest, highest) = extent(temperatures);
                let rising: Vec<f32> = match Format::of(path)? {
                    Format::Gif => between(lowest, highest, FRAMES).collect(),
                    _ => temperatures.to_vec(),
                };
                let (tokens, ids) = likeliest(model, logits, TEMPERATURES)?;
                let at = |&temperature: &f32| {
                    let probabilities = distribution(params, temperature, logits, prompt)?;
                    Ok(Distribution {
                        temperature,
                        entropy: entropy_bits(&probabilities) as f32,
                        probabilities: ids.iter().map(|&id| probabilities[id as usize]).collect(),
                    })
                };
                let all = rising.iter().map(at).collect::<Result<Vec<_>>>()?;
                Ok(chart::distributions(path, &title, &as_str(&tokens), &all)?)
            }
            Chart::Entropy { logits, params } => {
                let at = |temperature| {
                    let probabilities = distribution(params, temperature, logits, prompt)?;
                    Ok((f64::from(temperature), entropy_bits(&probabilities)))
                };
                let points = between(0.0, HOTTEST, POINTS).map(at).collect::<Result<Vec<_>>>()?;
                Ok(chart::entropy(path, &title, &points)?)
            }
        }
    }

    fn survivors(
        path: &Path,
        title: &str,
        model: &Pretrained,
        logits: &[f32],
        settings: &[Setting],
    ) -> Result<()> {
        let (tokens, ids) = likeliest(model, logits, SURVIVORS)?;
        let all = softmax(logits);
        let raw: Vec<f32> = ids.iter().map(|&id| all[id as usize]).collect();
        let keeps = |setting: &Setting| {
            let kept = |id: u32| setting.probabilities[id as usize] > 0.0;
            let mass: f32 = ranked(&all).iter().filter(|(id, _)| kept(*id)).map(|(_, p)| p).sum();
            Survivors {
                label: format!("{} keeps {:.1} % of the probability", setting.label, 100.0 * mass),
                kept: ids.iter().map(|&id| kept(id)).collect(),
            }
        };
        let settings: Vec<Survivors> = settings.iter().map(keeps).collect();
        Ok(chart::survivors(path, title, &as_str(&tokens), &raw, &settings)?)
    }

    /// The texts and the ids of the `n` most likely tokens.
    fn likeliest(model: &Pretrained, logits: &[f32], n: usize) -> Result<(Vec<String>, Vec<u32>)> {
        let ids: Vec<u32> = ranked(&softmax(logits)).iter().take(n).map(|&(id, _)| id).collect();
        let text = |&id: &u32| match model.tokenizer.decode(&[id])? {
            // A special token has no text, so its name is shown.
            text if text.is_empty() => Ok(model.tokenizer.token(id).unwrap_or_default()),
            text => Ok(text),
        };
        Ok((ids.iter().map(text).collect::<Result<_>>()?, ids))
    }

    fn distribution(
        params: &SamplingParams,
        temperature: f32,
        logits: &[f32],
        prompt: &[u32],
    ) -> Result<Vec<f32>> {
        let params = SamplingParams { temperature, ..params.clone() };
        Ok(Sampler::new(&params)?.distribution(logits, prompt, &[])?)
    }

    fn as_str(tokens: &[String]) -> Vec<&str> {
        tokens.iter().map(String::as_str).collect()
    }

    fn extent(values: &[f32]) -> (f32, f32) {
        let lowest = values.iter().copied().fold(f32::INFINITY, f32::min);
        let highest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        (lowest, highest)
    }

    /// `n` evenly spaced values from `lowest` to `highest`, both included.
    fn between(lowest: f32, highest: f32, n: usize) -> impl Iterator<Item = f32> {
        (0..n).map(move |i| lowest + (highest - lowest) * i as f32 / (n - 1) as f32)
    }
}
