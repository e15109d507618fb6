//! Axes, grid and tick labels.

use plotters::chart::ChartContext;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Span;
use super::error::Result;
use super::figure::{Area, Text, failed, units};
use super::theme::{AXIS, GRID, LABEL, MUTED, TICK};

pub(super) type Plane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Span, Span>>;

/// The plotting area in CSS pixels, without ticks and labels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// The axes that have grid lines and tick labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ticks {
    X,
    Y,
    Both,
}

/// The downward shift of a tick label in CSS pixels: text is centred on the x-height, and digits
/// are taller.
pub(super) const TALLER: f64 = 1.3;

/// Space for tick labels and an axis label, in CSS pixels.
const BELOW: f64 = 26.0;

/// Draws the axes of `frame` and returns the coordinate mapping.
pub(super) fn plane<'a, 'b>(
    area: &'a Area<'b>,
    frame: Frame,
    x: &Span,
    y: &Span,
    ticks: Ticks,
) -> Result<Plane<'a, 'b>> {
    let (width, height) = area.dim_in_pixel();
    let left = units(frame.left);
    let top = units(frame.top);
    let right = width as i32 - left - units(frame.width);
    let bottom = height as i32 - top - units(frame.height);
    let labelled = units(BELOW).min(bottom);
    let mut plane = ChartBuilder::on(area)
        .margin_top(top)
        .margin_right(right)
        .margin_bottom(bottom - labelled)
        .x_label_area_size(labelled)
        .y_label_area_size(left)
        .build_cartesian_2d(x.clone(), y.clone())
        .map_err(failed)?;

    let text = Text::new(TICK).color(MUTED).style();
    let mut mesh = plane.configure_mesh();
    mesh.light_line_style(TRANSPARENT)
        .bold_line_style(GRID.stroke_width(units(1.0) as u32))
        .axis_style(AXIS.stroke_width(units(1.0) as u32))
        .set_all_tick_mark_size(units(3.0))
        .y_label_offset(units(TALLER))
        .label_style(text);
    if ticks == Ticks::X {
        mesh.disable_y_mesh().disable_y_axis();
    }
    if ticks == Ticks::Y {
        mesh.disable_x_mesh().disable_x_axis();
    }
    mesh.draw().map_err(failed)?;
    Ok(plane)
}

/// The label of the horizontal axis, centred below it.
pub(super) fn label_x(area: &Area<'_>, frame: Frame, below: f64, label: &str) -> Result<()> {
    let at = (frame.left + frame.width / 2.0, frame.top + frame.height + below);
    Text::new(LABEL).anchor(HPos::Center, VPos::Top).draw(area, at, label)
}

/// The label of the vertical axis, horizontal above it: rotated text is slow to read.
pub(super) fn label_y(area: &Area<'_>, frame: Frame, left: f64, label: &str) -> Result<()> {
    Text::new(LABEL)
        .anchor(HPos::Left, VPos::Bottom)
        .draw(area, (left, frame.top - 8.0), label)
}
