use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{Scale, Span};
use super::error::{Error, Result};
use super::figure::{self, Area, Text, failed, fill};
use super::format::Still;
use super::plane::{Frame, TALLER, Ticks, label_x, label_y, plane};
use super::theme::{BLUE, LABEL, MARGIN, REMOVED, TITLE, WIDTH};
use super::{probability, token};

/// The tokens that a filter keeps at one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivors {
    /// The setting and a remark: `k = 5 keeps 81 % of the probability`.
    pub label: String,
    /// For each token of the chart, whether the filter keeps it.
    pub kept: Vec<bool>,
}

const PANEL: f64 = 104.0;
const HEAD: f64 = 34.0;

/// Draws which tokens a filter keeps at several settings, one panel each, over the unfiltered
/// distribution. The axis is logarithmic, so that the tail is visible.
///
/// `tokens` are the texts and `probabilities` the unfiltered probabilities, most likely first.
///
/// # Errors
/// An extension other than `.svg` and `.png`; a path that cannot be written; no token or no
/// setting; `probabilities` or a `kept` that does not match the number of tokens; probabilities not
/// above 0 or above 1.
pub fn survivors(
    path: &Path,
    title: &str,
    tokens: &[&str],
    probabilities: &[f32],
    settings: &[Survivors],
) -> Result<()> {
    let format = Still::of(path)?;
    if tokens.is_empty() || settings.is_empty() {
        return Err(Error::Empty { title: title.to_owned() });
    }
    probability::check(title, probabilities, tokens.len())?;
    let percents: Vec<f64> = probabilities.iter().map(|&p| 100.0 * f64::from(p)).collect();
    percents.iter().try_for_each(|&percent| Scale::Log.check(title, percent))?;
    if let Some(setting) = settings.iter().find(|setting| setting.kept.len() != tokens.len()) {
        return Err(Error::Length {
            series: setting.label.clone(),
            values: setting.kept.len(),
            tokens: tokens.len(),
        });
    }

    let names_height = token::names_height(tokens.len());
    let first = MARGIN + TITLE + 36.0;
    let height = first + settings.len() as f64 * (HEAD + PANEL) + names_height + 32.0;
    let x = token::ranks(tokens.len());
    let y = Span::wide(Scale::Log, percents.iter().copied());
    let svg = figure::svg(height, title, |area| {
        let left = MARGIN + 48.0;
        let frame = |n: usize| Frame {
            left,
            top: first + n as f64 * (HEAD + PANEL) + HEAD,
            width: WIDTH - MARGIN - left,
            height: PANEL,
        };
        legend(area)?;
        for (n, setting) in settings.iter().enumerate() {
            let frame = frame(n);
            let last = n + 1 == settings.len();
            let mut plane = plane(area, frame, &x, &y, if last { Ticks::Both } else { Ticks::Y })?;
            let bars = (1..).zip(&percents).zip(&setting.kept).map(|((rank, &percent), &kept)| {
                let color = if kept { BLUE } else { REMOVED };
                let (from, to) = (f64::from(rank) - 0.38, f64::from(rank) + 0.38);
                Rectangle::new([(from, y.start), (to, percent)], color.filled())
            });
            plane.draw_series(bars).map_err(failed)?;
            let label = Text::new(LABEL).bold().anchor(HPos::Right, VPos::Bottom);
            label.draw(area, (frame.left + frame.width, frame.top - 8.0), &setting.label)?;
        }
        label_y(area, frame(0), MARGIN, "probability (%)")?;

        let last = frame(settings.len() - 1);
        token::names(area, last, tokens.iter().copied())?;
        label_x(area, last, names_height + 4.0, "tokens, from the likeliest on")
    })?;
    format.write(path, &svg)
}

fn legend(area: &Area<'_>) -> Result<()> {
    let y = MARGIN + TITLE + 22.0;
    for (x, color, text) in [(MARGIN, BLUE, "kept"), (MARGIN + 80.0, REMOVED, "removed")] {
        fill(area, [(x, y - 6.0), (x + 12.0, y + 6.0)], color)?;
        let text_at = (x + 18.0, y + TALLER);
        Text::new(LABEL).anchor(HPos::Left, VPos::Center).draw(area, text_at, text)?;
    }
    Ok(())
}
