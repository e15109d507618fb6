use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{Axis, Span};
use super::error::{Error, Result};
use super::figure::{self, Area, Text, failed, units, widest};
use super::format::Still;
use super::plane::{Frame, Ticks, label_x, label_y, plane};
use super::theme::{INK, LABEL, MARGIN, SERIES, TICK, TITLE, WIDTH};

/// A line chart: series over common axes.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart {
    pub x: Axis,
    /// A linear axis begins at 0, unless a value is below.
    pub y: Axis,
    pub series: Vec<Series>,
}

/// One line through its points, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The legend entry. A chart of one series without a label has no legend. Where other series are
    /// lines, a single point has its label beside it, and no legend entry.
    pub label: String,
    /// `(x, y)` in the units of the axes. Short series have their points marked by dots.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// A line through `points`.
    pub fn new(label: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self {
            label: label.to_owned(),
            points: points.into_iter().collect(),
        }
    }
}

/// The most points of a series with dots.
const MARKED: usize = 20;
/// Charts per row of a figure.
const COLUMNS: usize = 2;
/// Heights in CSS pixels: the axes, the space below them, a row of the legend.
const HEIGHT: f64 = 250.0;
const FOOT: f64 = 64.0;
const LEGEND_ROW: f64 = 22.0;
/// Width of a legend swatch, and the gap after it.
const SWATCH: f64 = 24.0;
const GAP: f64 = 6.0;
/// The least space between two tick labels.
const TICK_GAP: f64 = 4.0;
/// How far the label of a point is from it, to the side and down, and the height of a label.
const BESIDE: f64 = 7.0;
const BELOW: f64 = 13.0;
const LINE: f64 = 18.0;

/// Draws charts in rows of two; a single chart takes the whole width.
///
/// # Errors
/// An extension other than `.svg` and `.png`; a path that cannot be written; no points; a number
/// that is not finite, or not above 0 on a logarithmic axis.
pub fn lines(path: &Path, title: &str, charts: &[LineChart]) -> Result<()> {
    let format = Still::of(path)?;
    for chart in charts {
        chart.check(title)?;
    }
    if charts.is_empty() {
        return Err(Error::Empty { title: title.to_owned() });
    }
    let top = MARGIN + TITLE + 14.0;
    let pitch = (WIDTH - MARGIN) / charts.len().min(COLUMNS) as f64;
    let width = pitch - MARGIN;
    let heads = charts.iter().map(|chart| chart.head(width)).collect::<Result<Vec<_>>>()?;
    let head = heads.into_iter().fold(0.0, f64::max);
    let block = head + HEIGHT + FOOT;
    let rows = charts.len().div_ceil(COLUMNS) as f64;
    let svg = figure::svg(top + rows * block, title, |area| {
        for (n, chart) in charts.iter().enumerate() {
            let (row, column) = ((n / COLUMNS) as f64, (n % COLUMNS) as f64);
            let left = MARGIN + column * pitch;
            let top = top + row * block;
            chart.draw_legend(area, (left, top), width)?;
            chart.draw(area, (left, top + head), width)?;
        }
        Ok(())
    })?;
    format.write(path, &svg)
}

impl LineChart {
    fn check(&self, title: &str) -> Result<()> {
        if self.series.iter().all(|series| series.points.is_empty()) {
            return Err(Error::Empty { title: title.to_owned() });
        }
        for series in &self.series {
            for &(x, y) in &series.points {
                self.x.scale.check(&series.label, x)?;
                self.y.scale.check(&series.label, y)?;
            }
        }
        Ok(())
    }

    /// Draws lines, axes, labels and legend; the axes begin at `top`, their labels at `left`.
    fn draw(&self, area: &Area<'_>, (left, top): (f64, f64), width: f64) -> Result<()> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Span::tight(self.x.scale, points().map(|point| point.0));
        let y = Span::wide(self.y.scale, points().map(|point| point.1));

        let tick_labels: Vec<String> = y.labels().collect();
        let indent = 10.0 + widest(Text::new(TICK), &tick_labels)?;
        let frame = Frame {
            left: left + indent,
            top,
            // Half of the last tick label extends beyond the axis.
            width: width - indent - 10.0,
            height: HEIGHT,
        };
        let widths = x.labels().map(|label| Text::new(TICK).width(&label));
        let widths = widths.collect::<Result<Vec<_>>>()?;
        let x = x.thinned(frame.width, &widths, TICK_GAP);
        let mut plane = plane(area, frame, &x, &y, Ticks::Both)?;
        label_x(area, frame, 28.0, &self.x.label)?;
        label_y(area, frame, left, &self.y.label)?;

        for (n, series) in self.in_legend() {
            let color = SERIES[n % SERIES.len()];
            let line = color.stroke_width(units(2.0) as u32);
            let points = series.points.iter().copied();
            if n < SERIES.len() {
                plane.draw_series(LineSeries::new(points, line)).map_err(failed)?;
            } else {
                let dashes = DashedLineSeries::new(points, units(7.0), units(4.0), line);
                plane.draw_series(dashes).map_err(failed)?;
            }
            if series.points.len() <= MARKED {
                let dots = series
                    .points
                    .iter()
                    .map(|&point| Circle::new(point, units(4.0), color.filled()));
                plane.draw_series(dots).map_err(failed)?;
            }
        }
        let dots = self.points().map(|(_, at)| Circle::new(at, units(4.0), INK.filled()));
        plane.draw_series(dots).map_err(failed)?;
        self.draw_labels(area, frame, &x, &y)
    }

    /// The labels of single points, below and to the right of them: lines that rise pass above. Where
    /// there is no room, a label ends at the frame or at the point; one that would cover another
    /// everywhere is drawn below it.
    fn draw_labels(&self, area: &Area<'_>, frame: Frame, x: &Span, y: &Span) -> Result<()> {
        let mut points: Vec<_> = self.points().collect();
        points.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0));
        let text = Text::new(TICK).anchor(HPos::Left, VPos::Center);
        let right = frame.left + frame.width;
        // Left end, width and middle.
        let mut drawn: Vec<(f64, f64, f64)> = Vec::new();
        for (label, at) in points {
            let width = Text::new(TICK).width(label)?;
            let point = frame.left + frame.width * x.part(at.0);
            let mut middle = frame.top + frame.height * (1.0 - y.part(at.1)) + BELOW;
            let covers = |left: f64, middle: f64| {
                drawn.iter().find(|(other, other_width, other_middle)| {
                    left < other + other_width
                        && left + width > *other
                        && (middle - other_middle).abs() < LINE
                })
            };
            let places = [(point + BESIDE).min(right - width), point - BESIDE - width];
            let fits = |left: &f64| *left >= frame.left && left + width <= right;
            let free = |left: &f64| fits(left) && covers(*left, middle).is_none();
            let left = places.into_iter().find(free).unwrap_or(places[0]);
            while let Some((.., other)) = covers(left, middle) {
                middle = other + LINE;
            }
            text.draw(area, (left, middle), label)?;
            drawn.push((left, width, middle));
        }
        Ok(())
    }

    /// The series of the legend with their numbers, which are those of their colours.
    fn in_legend(&self) -> impl Iterator<Item = (usize, &Series)> {
        let all = self.series.iter().enumerate();
        all.filter(|(_, series)| !self.is_point(series))
    }

    /// The series that are single points: label and place.
    fn points(&self) -> impl Iterator<Item = (&str, (f64, f64))> {
        let points = self.series.iter().filter(|series| self.is_point(series));
        points.map(|series| (&*series.label, series.points[0]))
    }

    fn is_point(&self, series: &Series) -> bool {
        series.points.len() == 1 && self.series.iter().any(|series| series.points.len() > 1)
    }

    /// The positions of the legend entries, relative to the legend's top left corner. Rows are
    /// filled from left to right.
    fn legend(&self, width: f64) -> Result<Vec<(f64, f64)>> {
        if self.in_legend().all(|(_, series)| series.label.is_empty()) {
            return Ok(Vec::new());
        }
        let (mut x, mut y) = (0.0, LEGEND_ROW / 2.0);
        let mut places = Vec::new();
        for (_, series) in self.in_legend() {
            let needed = SWATCH + GAP + Text::new(LABEL).width(&series.label)?;
            if x > 0.0 && x + needed > width {
                (x, y) = (0.0, y + LEGEND_ROW);
            }
            places.push((x, y));
            x += needed + 22.0;
        }
        Ok(places)
    }

    fn draw_legend(&self, area: &Area<'_>, (left, top): (f64, f64), width: f64) -> Result<()> {
        let text = Text::new(LABEL).anchor(HPos::Left, VPos::Center);
        for ((n, series), (x, y)) in self.in_legend().zip(self.legend(width)?) {
            let color = SERIES[n % SERIES.len()];
            let at = (left + x, top + y);
            swatch(area, at, SWATCH, color, n >= SERIES.len())?;
            text.draw(area, (at.0 + SWATCH + GAP, at.1), &series.label)?;
        }
        Ok(())
    }

    /// Height of the legend and the axis label above the axes, in CSS pixels.
    fn head(&self, width: f64) -> Result<f64> {
        let legend = self.legend(width)?.last().map_or(0.0, |&(_, y)| y + LEGEND_ROW / 2.0);
        Ok(legend + LABEL + 14.0)
    }
}

/// A legend swatch, `length` CSS pixels long.
pub(super) fn swatch(
    area: &Area<'_>,
    (x, y): (f64, f64),
    length: f64,
    color: RGBColor,
    dashed: bool,
) -> Result<()> {
    let line = color.stroke_width(units(2.5) as u32);
    let pieces = if dashed {
        vec![(0.0, 0.4), (0.6, 1.0)]
    } else {
        vec![(0.0, 1.0)]
    };
    for (from, to) in pieces {
        let ends = [from, to].map(|part| (units(x + part * length), units(y)));
        area.draw(&PathElement::new(ends, line)).map_err(failed)?;
    }
    Ok(())
}
