use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::{Scale, Span};
use super::error::{Error, Result};
use super::figure::{self, Area, Text, failed, units, widest};
use super::format::{Format, Still, write_animation};
use super::plane::{Frame, TALLER, Ticks, label_x, plane};
use super::theme::{
    AXIS, BLUE, INK, LABEL, MARGIN, MUTED, REMOVED, TICK, TITLE, VERMILLION, WIDTH,
};
use super::{probability, token};

/// The distribution of the next token at one temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    pub temperature: f32,
    /// In bits, over the whole distribution.
    pub entropy: f32,
    /// One for each token of the chart, in order. The remaining probability is drawn as "all
    /// others".
    pub probabilities: Vec<f32>,
}

impl Distribution {
    /// The effective number of tokens: that many equally likely tokens have the same entropy.
    fn effective_tokens(&self) -> String {
        match self.entropy.exp2() {
            few if few < 99.95 => format!("{few:.1}"),
            many => format!("{many:.0}"),
        }
    }

    fn others(&self) -> f32 {
        (1.0 - self.probabilities.iter().sum::<f32>()).clamp(0.0, 1.0)
    }

    fn title(&self) -> String {
        format!("T = {:.2}", self.temperature)
    }
}

/// Height of a token's row in CSS pixels.
const ROW: f64 = 23.0;
const HEAD: f64 = 64.0;
const FOOT: f64 = 52.0;
const SMALL: f64 = 13.0;
/// Distributions per row of a still figure.
const COLUMNS: usize = 5;
/// Frames narrower than this get few tick labels.
const NARROW: f64 = 120.0;

const OTHERS: &str = "all others";
const ENTROPY: &str = "entropy";
const EFFECTIVE: &str = "effective tokens";

/// In hundredths of a second: the delay of a frame, and the hold of the first and the last.
const DELAY: u16 = 10;
const HOLD: u16 = 120;

/// Draws the next-token distribution at several temperatures: bars side by side in `.svg` and
/// `.png`, one frame each in `.gif`, which plays in the given order and loops.
///
/// `tokens` are the texts of the tokens in the chart, most likely first; up to a dozen are
/// readable.
///
/// # Errors
/// An unknown extension; a path that cannot be written; no distribution or no token; probabilities
/// that do not match the tokens or are not between 0 and 1; a temperature or an entropy that is not
/// a finite number.
pub fn distributions(
    path: &Path,
    title: &str,
    tokens: &[&str],
    distributions: &[Distribution],
) -> Result<()> {
    let format = Format::of(path)?;
    if tokens.is_empty() || distributions.is_empty() {
        return Err(Error::Empty { title: title.to_owned() });
    }
    for distribution in distributions {
        let name = distribution.title();
        Scale::Linear.check(&name, f64::from(distribution.temperature))?;
        Scale::Linear.check(&name, f64::from(distribution.entropy))?;
        probability::check(&name, &distribution.probabilities, tokens.len())?;
    }

    let rows = Rows::new(tokens, distributions)?;
    if format == Format::Gif {
        return write_animation(path, &rows.frames(title, distributions)?);
    }
    let svg = rows.small_multiples(title, distributions)?;
    Still::of(path)?.write(path, &svg)
}

/// The rows and axes shared by all distributions of a figure.
struct Rows {
    /// One per token, and one for all others if they have any probability.
    labels: Vec<String>,
    /// Width of the widest label in CSS pixels.
    label_width: f64,
    /// The axis of probability in per cent.
    x: Span,
    /// The axis of rows, from top to bottom; row n lies between n and n + 1.
    y: Span,
    /// The number of rows for tokens.
    tokens: usize,
}

impl Rows {
    fn new(tokens: &[&str], distributions: &[Distribution]) -> Result<Self> {
        let mut labels: Vec<String> = tokens.iter().map(|text| token::label(text)).collect();
        if distributions.iter().any(|distribution| distribution.others() > 5e-4) {
            labels.push(OTHERS.to_owned());
        }
        let shown =
            distributions.iter().flat_map(|d| d.probabilities.iter().copied().chain([d.others()]));
        let x = Span::wide(Scale::Linear, shown.map(|p| 100.0 * f64::from(p)));
        let y = Span::rows(labels.len());
        let heading = Text::new(SMALL).width(EFFECTIVE)?;
        let label_width = widest(Text::new(LABEL), &labels)?.max(heading);
        Ok(Self { tokens: tokens.len(), labels, label_width, x, y })
    }

    fn height(&self) -> f64 {
        self.labels.len() as f64 * ROW
    }

    fn small_multiples(&self, title: &str, distributions: &[Distribution]) -> Result<String> {
        let block = HEAD + self.height() + FOOT;
        let rows = distributions.len().div_ceil(COLUMNS) as f64;
        let top = MARGIN + TITLE + 4.0;
        figure::svg(top + rows * block + 6.0, title, |area| {
            let left = MARGIN + self.label_width + 8.0;
            let columns = distributions.len().min(COLUMNS) as f64;
            let pitch = (WIDTH - left) / columns;
            let x = if pitch < NARROW {
                self.x.clone().with_few_ticks()
            } else {
                self.x.clone()
            };
            for (n, distribution) in distributions.iter().enumerate() {
                let (row, column) = ((n / COLUMNS) as f64, (n % COLUMNS) as f64);
                let frame = Frame {
                    left: left + column * pitch,
                    top: top + row * block + HEAD,
                    width: pitch - 24.0,
                    height: self.height(),
                };
                if column == 0.0 {
                    self.draw_labels(area, frame)?;
                    draw_heading(area, frame, HPos::Right, ["", ENTROPY, EFFECTIVE])?;
                    let shown = (distributions.len() - n).min(COLUMNS) as f64;
                    let all = Frame { width: shown * pitch - 24.0, ..frame };
                    label_x(area, all, 28.0, "probability (%)")?;
                }
                let entropy = format!("{:.2} bits", distribution.entropy);
                let heading = [
                    &distribution.title()[..],
                    &entropy,
                    &distribution.effective_tokens(),
                ];
                draw_heading(area, frame, HPos::Left, heading)?;
                self.draw_bars(area, frame, &x, distribution)?;
            }
            Ok(())
        })
    }

    fn frames(&self, title: &str, distributions: &[Distribution]) -> Result<Vec<(String, u16)>> {
        let last = distributions.len() - 1;
        let delay = |n| if n == 0 || n == last { HOLD } else { DELAY };
        let draw = |(n, shown): (usize, &Distribution)| {
            Ok((self.frame(title, distributions, shown)?, delay(n)))
        };
        distributions.iter().enumerate().map(draw).collect()
    }

    /// One frame: the numbers and the temperature track above, the bars below.
    fn frame(&self, title: &str, all: &[Distribution], shown: &Distribution) -> Result<String> {
        let top = MARGIN + TITLE + 80.0;
        figure::svg(top + self.height() + FOOT + 6.0, title, |area| {
            let left = MARGIN + self.label_width + 8.0;
            let frame = Frame { left, top, width: WIDTH - left - 48.0, height: self.height() };

            let line = MARGIN + TITLE + 24.0;
            let text = Text::new(17.0).anchor(HPos::Left, VPos::Center);
            text.bold().color(VERMILLION).draw(area, (MARGIN, line), &shown.title())?;
            let entropy = format!("{ENTROPY} {:.2} bits", shown.entropy);
            text.draw(area, (MARGIN + 95.0, line), &entropy)?;
            let effective = format!("{EFFECTIVE} {}", shown.effective_tokens());
            text.draw(area, (MARGIN + 250.0, line), &effective)?;

            draw_track(area, frame, line + 26.0, all, shown)?;
            self.draw_labels(area, frame)?;
            self.draw_bars(area, frame, &self.x, shown)?;
            label_x(area, frame, 28.0, "probability (%)")
        })
    }

    fn draw_labels(&self, area: &Area<'_>, frame: Frame) -> Result<()> {
        let text = Text::new(LABEL).anchor(HPos::Right, VPos::Center);
        for (row, label) in self.labels.iter().enumerate() {
            let color = if row < self.tokens { INK } else { MUTED };
            let middle = frame.top + (row as f64 + 0.5) * ROW + TALLER;
            text.color(color).draw(area, (frame.left - 8.0, middle), label)?;
        }
        Ok(())
    }

    fn draw_bars(
        &self,
        area: &Area<'_>,
        frame: Frame,
        x: &Span,
        distribution: &Distribution,
    ) -> Result<()> {
        let mut plane = plane(area, frame, x, &self.y, Ticks::X)?;
        let shown = distribution.probabilities.iter().copied().chain([distribution.others()]);
        let bars = (0..self.labels.len()).zip(shown);
        let rectangles = bars.clone().map(|(row, probability)| {
            let color = if row < self.tokens { BLUE } else { REMOVED };
            let (top, bottom) = (row as f64 + 0.14, row as f64 + 0.86);
            let end = 100.0 * f64::from(probability);
            Rectangle::new([(0.0, top), (end, bottom)], color.filled())
        });
        plane.draw_series(rectangles).map_err(failed)?;
        let axis = [(0.0, 0.0), (0.0, self.labels.len() as f64)];
        plane
            .draw_series([PathElement::new(axis, AXIS.stroke_width(units(1.0) as u32))])
            .map_err(failed)?;

        let text = Text::new(TICK);
        for (row, probability) in bars {
            let percent = 100.0 * f64::from(probability);
            let label = percent_label(percent);
            let end = frame.width * x.part(percent);
            let at = |x: f64| (frame.left + x, frame.top + (row as f64 + 0.5) * ROW + TALLER);
            let inside = end + 6.0 + text.width(&label)? > frame.width + 20.0;
            let color = if inside && row < self.tokens {
                WHITE
            } else {
                INK
            };
            let (anchor, x) = if inside {
                (HPos::Right, end - 5.0)
            } else {
                (HPos::Left, end + 4.0)
            };
            text.color(color).anchor(anchor, VPos::Center).draw(area, at(x), &label)?;
        }
        Ok(())
    }
}

/// Three lines above `frame`, or to the left of it if `side` is `Right`.
fn draw_heading(area: &Area<'_>, frame: Frame, side: HPos, lines: [&str; 3]) -> Result<()> {
    let [title, entropy, effective] = lines;
    let x = if matches!(side, HPos::Right) {
        frame.left - 8.0
    } else {
        frame.left
    };
    Text::new(LABEL).bold().anchor(side, VPos::Top).draw(area, (x, frame.top - 54.0), title)?;
    let small = Text::new(SMALL).color(MUTED).anchor(side, VPos::Top);
    small.draw(area, (x, frame.top - 35.0), entropy)?;
    small.draw(area, (x, frame.top - 19.0), effective)
}

/// Two digits suffice for comparison and fit the space.
fn percent_label(percent: f64) -> String {
    match percent {
        p if p < 0.05 => "<0.1".to_owned(),
        p if p < 9.95 => format!("{p:.1}"),
        p => format!("{p:.0}"),
    }
}

/// The temperature scale: a horizontal track with a marker.
fn draw_track(
    area: &Area<'_>,
    frame: Frame,
    y: f64,
    all: &[Distribution],
    shown: &Distribution,
) -> Result<()> {
    let span = Span::tight(Scale::Linear, all.iter().map(|d| f64::from(d.temperature)));
    let part = span.part(f64::from(shown.temperature));
    let point = |x: f64| (units(frame.left + x), units(y));
    let to = |x: f64, color: RGBColor| {
        PathElement::new([point(0.0), point(x)], color.stroke_width(units(4.0) as u32))
    };
    area.draw(&to(frame.width, REMOVED)).map_err(failed)?;
    area.draw(&to(part * frame.width, VERMILLION)).map_err(failed)?;
    let knob = Circle::new(point(part * frame.width), units(7.0), VERMILLION.filled());
    area.draw(&knob).map_err(failed)
}
