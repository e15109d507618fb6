use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::error::{Error, Result};

/// The quantity of an axis and its scale. The label names quantity and unit: `time (ms)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    pub label: String,
    pub scale: Scale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// Logarithmic, base 10. Values must be above 0.
    Log,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Log }
    }
}

impl Scale {
    /// The coordinate of a value: equal distances for equal steps of the scale.
    fn position(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }

    fn value(self, position: f64) -> f64 {
        match self {
            Scale::Linear => position,
            Scale::Log => 10f64.powf(position),
        }
    }

    /// Refuses a value that the axis cannot show. `series` names its series in the error.
    pub(super) fn check(self, series: &str, value: f64) -> Result<()> {
        let allowed = match self {
            Scale::Linear => "a finite number",
            Scale::Log => "a finite number above 0, as its axis is logarithmic",
        };
        if value.is_finite() && (self == Scale::Linear || value > 0.0) {
            return Ok(());
        }
        Err(Error::Value { series: series.to_owned(), value, allowed })
    }
}

/// The visible range of an axis and its ticks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub start: f64,
    /// Less than `start` on a reversed axis.
    pub end: f64,
    pub ticks: Vec<f64>,
    scale: Scale,
    /// Digits after the decimal point on a linear scale.
    decimals: usize,
}

impl Span {
    /// The exact range of `values`.
    pub fn tight(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (start, end) = extent(scale, values);
        Self::between(scale, start, end)
    }

    /// The range of `values`, extended to ticks. A linear axis includes 0, so that lengths can be
    /// compared.
    pub fn wide(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (start, end) = extent(scale, values);
        if scale == Scale::Log {
            // A margin keeps values at a power of ten off the frame.
            return Self::between(scale, (start - 0.05).floor(), (end + 0.05).ceil());
        }
        let (start, end) = (start.min(0.0), end.max(0.0));
        let step = step(end - start);
        Self::between(scale, (start / step).floor() * step, (end / step - 1e-9).ceil() * step)
    }

    /// From one coordinate to another, with ticks at round values between.
    fn between(scale: Scale, start: f64, end: f64) -> Self {
        let step = match scale {
            Scale::Linear => step(end - start),
            Scale::Log => step(end - start).max(1.0),
        };
        let first = (start / step - 1e-9).ceil() as i64;
        let last = (end / step + 1e-9).floor() as i64;
        let round = (first..=last).map(|n| scale.value(n as f64 * step));
        let ticks = if scale == Scale::Log && last - first < 2 && step == 1.0 {
            // Powers of ten alone would give only one or two ticks.
            let decades = (first - 1..=last).map(|n| scale.value(n as f64));
            let within = |value: &f64| (start - 1e-9..=end + 1e-9).contains(&value.log10());
            decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|n| n * decade)).filter(within).collect()
        } else {
            round.collect()
        };
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        Self {
            start: scale.value(start),
            end: scale.value(end),
            ticks,
            scale,
            decimals,
        }
    }

    /// An axis of ranks for `bars` bars, the first centred on 1.
    pub fn ranks(bars: usize) -> Self {
        Self::between(Scale::Linear, 0.5, bars as f64 + 0.5)
    }

    /// An axis of rows from top to bottom, row n between n and n + 1.
    pub fn rows(rows: usize) -> Self {
        Self {
            start: rows as f64,
            end: 0.0,
            ..Self::between(Scale::Linear, 0.0, 1.0)
        }
        .without_ticks()
    }

    /// The same range, starting at `start`.
    pub fn from(mut self, start: f64) -> Self {
        self.ticks.retain(|&tick| tick >= start);
        Self { start, ..self }
    }

    /// With ticks only at the ends and, if there is one, in the middle: for a narrow frame.
    pub fn with_few_ticks(mut self) -> Self {
        let steps = self.ticks.len().saturating_sub(1);
        let every = if steps.is_multiple_of(2) {
            steps / 2
        } else {
            steps
        };
        let mut position = 0..;
        self.ticks.retain(|_| {
            position.next().is_some_and(|n: usize| every == 0 || n.is_multiple_of(every))
        });
        self
    }

    /// With every tick, every second or every third, and so on: as many as it takes that no two
    /// labels of these `widths` come closer than `gap` on an axis of this `length`.
    pub fn thinned(self, length: f64, widths: &[f64], gap: f64) -> Self {
        let places: Vec<(f64, f64)> = self
            .ticks
            .iter()
            .map(|&tick| length * self.part(tick))
            .zip(widths.iter().copied())
            .collect();
        let has_room = |every: &usize| {
            let kept: Vec<_> = places.iter().step_by(*every).collect();
            kept.windows(2).all(|pair| {
                let ((left, before), (right, after)) = (pair[0], pair[1]);
                right - left >= (before + after) / 2.0 + gap
            })
        };
        let every = (1..=places.len()).find(has_room).unwrap_or(1);
        let ticks = self.ticks.iter().copied().step_by(every).collect();
        Self { ticks, ..self }
    }

    pub fn without_ticks(self) -> Self {
        Self { ticks: vec![], ..self }
    }

    /// The tick labels.
    pub fn labels(&self) -> impl Iterator<Item = String> {
        self.ticks.iter().map(|tick| self.format_ext(tick))
    }

    /// The relative position of `value` on the axis: 0 at the start, 1 at the end.
    pub fn part(&self, value: f64) -> f64 {
        let [start, end, value] =
            [self.start, self.end, value].map(|value| self.scale.position(value));
        (value - start) / (end - start)
    }
}

impl Ranged for Span {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        limit.0 + (self.part(*value) * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.start..self.end
    }
}

impl ValueFormatter<f64> for Span {
    fn format(tick: &f64) -> String {
        tick.to_string()
    }

    fn format_ext(&self, tick: &f64) -> String {
        match self.scale {
            Scale::Linear => number(*tick, self.decimals),
            Scale::Log => number(*tick, (-(tick.log10() + 1e-9).floor()).max(0.0) as usize),
        }
    }
}

/// The least and the greatest coordinate, moved apart if they are equal or missing.
fn extent(scale: Scale, values: impl Iterator<Item = f64>) -> (f64, f64) {
    let positions = values.map(|value| scale.position(value));
    let (least, greatest) = positions
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), position| {
            (least.min(position), greatest.max(position))
        });
    if least > greatest {
        return (0.0, 1.0);
    }
    if greatest - least > least.abs().max(1e-9) * 1e-9 {
        return (least, greatest);
    }
    let apart = if least == 0.0 { 1.0 } else { least.abs() * 0.1 };
    (least - apart, greatest + apart)
}

/// The smallest step of 1, 2 or 5 times a power of ten that fits into `length` at most six times.
fn step(length: f64) -> f64 {
    let power = 10f64.powf((length / 6.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| step * 6.0 >= length * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// Formats a number: thin spaces group thousands from 10 000 on, and scientific notation is used
/// where it is shorter.
fn number(value: f64, decimals: usize) -> String {
    if value.abs() >= 1e9 || decimals > 4 {
        let short = format!("{value:.2e}");
        let (digits, power) = short.split_once('e').unwrap_or((&short, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return if power == "0" {
            digits.to_owned()
        } else {
            format!("{digits}e{power}").replace('-', "\u{2212}")
        };
    }
    let plain = format!("{value:.decimals$}");
    if value.abs() < 10_000.0 || decimals > 0 {
        return plain.replace('-', "\u{2212}");
    }
    let (sign, digits) =
        plain.strip_prefix('-').map_or(("", &plain[..]), |digits| ("\u{2212}", digits));
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| std::str::from_utf8(g).ok()).collect();
    format!("{sign}{}", groups.join("\u{2009}"))
}

#[cfg(test)]
mod tests {
    use super::{Scale, Span, number};

    fn labels(span: &Span) -> Vec<String> {
        span.labels().collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let span = Span::wide(Scale::Linear, [0.3, 0.97].into_iter());
        assert_eq!(labels(&span), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let span = Span::tight(Scale::Linear, [20.0, 2240.0].into_iter());
        assert_eq!(labels(&span), ["500", "1000", "1500", "2000"]);
        let span = Span::wide(Scale::Log, [1.0, 700.0].into_iter());
        assert_eq!(labels(&span), ["0.1", "1", "10", "100", "1000"]);
        let span = Span::tight(Scale::Log, [16.0, 512.0].into_iter());
        assert_eq!(labels(&span), ["20", "50", "100", "200", "500"]);
        let span = Span::wide(Scale::Log, [0.002, 0.5].into_iter());
        assert_eq!(labels(&span), ["0.001", "0.01", "0.1", "1"]);
    }

    #[test]
    fn a_narrow_axis_has_few_ticks() {
        let few =
            |most| labels(&Span::wide(Scale::Linear, [0.0, most].into_iter()).with_few_ticks());
        assert_eq!(few(100.0), ["0", "100"]);
        assert_eq!(few(80.0), ["0", "40", "80"]);
        assert_eq!(few(50.0), ["0", "50"]);
    }

    #[test]
    fn labels_that_would_touch_are_left_out() {
        let span = || Span::tight(Scale::Log, [30.0, 2e6].into_iter());
        let widths = [20.0, 30.0, 40.0, 50.0, 60.0];
        assert_eq!(labels(&span().thinned(600.0, &widths, 8.0)).len(), 5);
        // At a distance of 62: between the last two there is too little room.
        let few = labels(&span().thinned(300.0, &widths, 8.0));
        assert_eq!(few, ["100", "10\u{2009}000", "1\u{2009}000\u{2009}000"]);
        assert_eq!(labels(&span().thinned(40.0, &widths, 8.0)), ["100"]);
        assert!(labels(&span().without_ticks().thinned(60.0, &[], 8.0)).is_empty());
    }

    #[test]
    fn equal_and_absent_values_have_a_span() {
        for values in [
            vec![],
            vec![0.0],
            vec![3.0, 3.0],
            vec![-2.0],
            vec![1e-300],
            vec![1e300],
        ] {
            for span in [
                Span::tight(Scale::Linear, values.iter().copied()),
                Span::wide(Scale::Linear, values.iter().copied()),
            ] {
                assert!(span.start < span.end, "{values:?}: {span:?}");
                assert!(span.ticks.len() <= 8, "{values:?}: {span:?}");
            }
        }
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(number(1500.0, 0), "1500");
        assert_eq!(number(1_234_567.0, 0), "1\u{2009}234\u{2009}567");
        assert_eq!(number(-20_000.0, 0), "\u{2212}20\u{2009}000");
        assert_eq!(number(0.25, 2), "0.25");
        assert_eq!(number(2.5e12, 0), "2.5e12");
        assert_eq!(number(-1e-7, 7), "\u{2212}1e\u{2212}7");
    }
}
