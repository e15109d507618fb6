use std::iter;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{Scale, Span};
use super::error::{Error, Result};
use super::figure::{self, Area, Text, failed, fill, units};
use super::format::Still;
use super::lines::swatch;
use super::plane::{Frame, Ticks, label_x, label_y, plane};
use super::theme::{AXIS, INK, LABEL, MARGIN, MUTED, TITLE, VERMILLION, WIDTH};

/// A step of a scheduler.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineStep {
    /// When it ended. It began when the one before ended.
    pub end_seconds: f64,
    /// The tokens that it computed.
    pub tokens: usize,
    /// What it did for each sequence.
    pub marks: Vec<TimelineMark>,
}

/// What a step did for a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineMark {
    /// It has not arrived, or has ended.
    Absent,
    Waiting,
    Prefill,
    Decode,
    Preempted,
}

impl TimelineMark {
    /// The colour, and the height as a share of the row: no mark is told by its colour alone. What is
    /// computed has one colour, as in all figures of the book.
    fn look(self) -> Option<(RGBColor, f64)> {
        match self {
            Self::Absent => None,
            Self::Waiting => Some((AXIS, 0.06)),
            Self::Prefill => Some((VERMILLION, 0.9)),
            Self::Decode => Some((VERMILLION, 0.45)),
            Self::Preempted => Some((INK, 0.9)),
        }
    }

    /// Draws it between two x, around `middle`, in a row of this height.
    fn draw(self, area: &Area<'_>, x: (f64, f64), middle: f64, row: f64) -> Result<()> {
        let Some((color, share)) = self.look() else {
            return Ok(());
        };
        let half = share * row / 2.0;
        fill(area, [(x.0, middle - half), (x.1, middle + half)], color)
    }
}

/// Heights in CSS pixels: a row, the bars below, the space between and below.
const ROW: f64 = 26.0;
const BARS: f64 = 130.0;
const GAP: f64 = 46.0;
const FOOT: f64 = 64.0;
/// The space for the names of rows and for tick labels.
const INDENT: f64 = 44.0;

/// Draws a row for each sequence and a bar for each step, as tall as its tokens are many. Both are
/// over time. `budget` is drawn as a line.
///
/// # Errors
/// An extension other than `.svg` and `.png`; a path that cannot be written; no step; a time that
/// is not a finite number.
pub fn timeline(
    path: &Path,
    title: &str,
    steps: &[TimelineStep],
    budget: Option<usize>,
) -> Result<()> {
    let format = Still::of(path)?;
    let Some(last) = steps.last() else {
        return Err(Error::Empty { title: title.to_owned() });
    };
    steps.iter().try_for_each(|step| Scale::Linear.check("time", step.end_seconds))?;
    let rows = steps.iter().map(|step| step.marks.len()).max().unwrap_or(0);
    let top = MARGIN + TITLE + 44.0;
    let left = MARGIN + INDENT;
    let bars = Frame {
        left,
        top: top + rows as f64 * ROW + GAP,
        width: WIDTH - MARGIN - left - 10.0,
        height: BARS,
    };
    let x = Span::tight(Scale::Linear, [0.0, 1e3 * last.end_seconds].into_iter());
    let tokens = steps.iter().map(|step| step.tokens as f64);
    let y = Span::wide(Scale::Linear, tokens.chain(budget.map(|budget| budget as f64)));
    let ends = steps.iter().map(|step| 1e3 * step.end_seconds);
    let spans: Vec<(f64, f64)> = iter::once(0.0).chain(ends.clone()).zip(ends).collect();

    let svg = figure::svg(bars.top + BARS + FOOT, title, |area| {
        legend(area, budget.is_some())?;
        let name = Text::new(LABEL).color(MUTED).anchor(HPos::Left, VPos::Center);
        let at = |time: f64| left + bars.width * time / x.end.max(1e-9);
        for row in 0..rows {
            let middle = top + (row as f64 + 0.5) * ROW;
            name.draw(area, (MARGIN, middle), &(row + 1).to_string())?;
            for (step, &(start, end)) in steps.iter().zip(&spans) {
                let mark = step.marks.get(row).copied().unwrap_or(TimelineMark::Absent);
                mark.draw(area, (at(start), at(end) - 0.3), middle, ROW)?;
            }
        }
        let mut plane = plane(area, bars, &x, &y, Ticks::Both)?;
        let bar = |(step, &(start, end)): (&TimelineStep, &(f64, f64))| {
            Rectangle::new([(start, 0.0), (end, step.tokens as f64)], MUTED.filled())
        };
        plane.draw_series(steps.iter().zip(&spans).map(bar)).map_err(failed)?;
        if let Some(budget) = budget {
            let line = [x.start, x.end].map(|x| (x, budget as f64));
            let style = INK.stroke_width(units(1.5) as u32);
            let dashes = DashedLineSeries::new(line, units(7.0), units(4.0), style);
            plane.draw_series(dashes).map_err(failed)?;
        }
        label_y(area, bars, MARGIN, "tokens in the step")?;
        label_x(area, bars, 28.0, "time (ms)")
    })?;
    format.write(path, &svg)
}

fn legend(area: &Area<'_>, has_budget: bool) -> Result<()> {
    let text = Text::new(LABEL).anchor(HPos::Left, VPos::Center);
    let y = MARGIN + TITLE + 22.0;
    let entries = [
        (TimelineMark::Prefill, "prefill", 0.0),
        (TimelineMark::Decode, "decode", 84.0),
        (TimelineMark::Waiting, "waits", 172.0),
        (TimelineMark::Preempted, "preempted", 246.0),
    ];
    for (mark, label, x) in entries {
        let left = MARGIN + x;
        mark.draw(area, (left, left + 14.0), y, 16.0)?;
        text.draw(area, (left + 20.0, y), label)?;
    }
    if has_budget {
        swatch(area, (MARGIN + 350.0, y), 20.0, INK, true)?;
        text.draw(area, (MARGIN + 376.0, y), "budget")?;
    }
    Ok(())
}
