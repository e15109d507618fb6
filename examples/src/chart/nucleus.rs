use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{Scale, Span};
use super::error::{Error, Result};
use super::figure::{self, Area, Text, failed, units};
use super::format::Still;
use super::lines::swatch;
use super::plane::{Frame, Ticks, label_x, label_y, plane};
use super::theme::{BLUE, LABEL, MARGIN, TITLE, VERMILLION, WIDTH};
use super::token;

/// One step of a generation under top-p.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NucleusStep {
    /// The text of the sampled token.
    pub token: String,
    /// The number of tokens in the nucleus, at least one.
    pub survivors: usize,
}

const HEIGHT: f64 = 260.0;

/// Draws the number of tokens that top-p keeps at each step, beside the constant `k` of top-k.
///
/// # Errors
/// An extension other than `.svg` and `.png`; a path that cannot be written; no step; a step
/// without a survivor, a `k` of 0, or a `p` that is not a finite number.
pub fn nucleus(path: &Path, title: &str, steps: &[NucleusStep], p: f32, k: usize) -> Result<()> {
    let format = Still::of(path)?;
    if steps.is_empty() {
        return Err(Error::Empty { title: title.to_owned() });
    }
    Scale::Linear.check("top-p", f64::from(p))?;
    Scale::Log.check("top-k", k as f64)?;
    for step in steps {
        Scale::Log.check("top-p", step.survivors as f64)?;
    }

    let names_height = token::names_height(steps.len());
    let counts = steps.iter().map(|step| step.survivors as f64);
    let x = token::ranks(steps.len());
    let shown = counts.clone().chain([1.0, k as f64]);
    // Starts below 1, so that the dot of a single survivor lies above the axis.
    let y = Span::wide(Scale::Log, shown).from(0.75);
    let top = MARGIN + TITLE + 68.0;
    let svg = figure::svg(top + HEIGHT + names_height + 32.0, title, |area| {
        let left = MARGIN + 48.0;
        let frame = Frame { left, top, width: WIDTH - MARGIN - left, height: HEIGHT };
        let mut plane = plane(area, frame, &x, &y, Ticks::Both)?;

        let pitch = frame.width / steps.len() as f64;
        let points: Vec<(f64, f64)> = (1..).map(f64::from).zip(counts).collect();
        let stem = BLUE.stroke_width(units((pitch * 0.3).clamp(1.0, 3.0)) as u32);
        let stems = points.iter().map(|&(x, top)| PathElement::new([(x, y.start), (x, top)], stem));
        plane.draw_series(stems).map_err(failed)?;
        let radius = units((pitch * 0.36).clamp(1.5, 5.0));
        let dots = points.iter().map(|&point| Circle::new(point, radius, BLUE.filled()));
        plane.draw_series(dots).map_err(failed)?;
        let constant = [x.start, x.end].map(|x| (x, k as f64));
        let line = VERMILLION.stroke_width(units(2.0) as u32);
        let dashes = DashedLineSeries::new(constant, units(8.0), units(5.0), line);
        plane.draw_series(dashes).map_err(failed)?;

        legend(area, p, k)?;
        label_y(area, frame, MARGIN, "tokens that survive")?;
        token::names(area, frame, steps.iter().map(|step| step.token.as_str()))?;
        let steps = if token::has_names(steps.len()) {
            "step, and the token drawn at it"
        } else {
            "step"
        };
        label_x(area, frame, names_height + 4.0, steps)
    })?;
    format.write(path, &svg)
}

fn legend(area: &Area<'_>, p: f32, k: usize) -> Result<()> {
    let y = MARGIN + TITLE + 22.0;
    let text = Text::new(LABEL).anchor(HPos::Left, VPos::Center);
    let dot = Circle::new((units(MARGIN + 5.0), units(y)), units(5.0), BLUE.filled());
    area.draw(&dot).map_err(failed)?;
    text.draw(area, (MARGIN + 18.0, y), &format!("top-p, p = {p}"))?;
    swatch(area, (MARGIN + 160.0, y), 24.0, VERMILLION, true)?;
    text.draw(area, (MARGIN + 192.0, y), &format!("top-k, k = {k}"))
}
