//! `--chart FILE`: windows, experts or RoPE as a figure.

use std::path::Path;

use slowburn_examples::cli::{Error, Result};

use super::experts::ExpertsRun;
use super::report::Part;
use super::shapes::WindowPattern;
use super::windows::WindowStep;

type Windows = [(WindowPattern, Vec<WindowStep>)];

/// Draws what one part has found to `path`, whose extension selects the format.
///
/// # Errors
/// A part without a figure; an extension other than `.svg` and `.png`; a path that cannot be written;
/// always, without the feature `plot`.
#[cfg(not(feature = "plot"))]
pub(super) fn draw(_: &Path, _: Option<Part>, _: &Windows, _: &[ExpertsRun]) -> Result<()> {
    Err(Error::ChartsNotCompiled)
}

/// Draws what one part has found to `path`, whose extension selects the format.
///
/// # Errors
/// A part without a figure; an extension other than `.svg` and `.png`; a path that cannot be written.
#[cfg(feature = "plot")]
pub(super) fn draw(
    path: &Path,
    part: Option<Part>,
    windows: &Windows,
    experts: &[ExpertsRun],
) -> Result<()> {
    use slowburn_examples::chart::lines;
    let (title, charts) = match part {
        Some(Part::Windows) => ("What a window saves", plot::windows(windows)),
        Some(Part::Experts) => ("The experts of a batch", plot::experts(experts)),
        Some(Part::Rope) => ("How long the pairs of RoPE take", plot::ropes()),
        Some(Part::Layers) | None => return Err(Error::NoFigure),
    };
    Ok(lines(path, title, &charts)?)
}

#[cfg(feature = "plot")]
mod plot {
    use super::super::ropes;
    use super::super::shapes::LARGEST_BATCH;
    use super::{ExpertsRun, WindowStep, Windows};
    use slowburn_examples::chart::{Axis, LineChart, Series};

    /// Every so many steps of a long text are drawn.
    const EVERY: usize = 16;

    pub(super) fn windows(runs: &Windows) -> Vec<LineChart> {
        let chart = |label: &str, value: fn(&WindowStep) -> f64| {
            let series = runs.iter().map(|(pattern, steps)| {
                let steps = steps.iter().step_by(EVERY);
                Series::new(pattern.name(), steps.map(|step| (step.length as f64, value(step))))
            });
            LineChart {
                x: Axis::linear("tokens of the text"),
                y: Axis::linear(label),
                series: series.collect(),
            }
        };
        vec![
            chart("read by attention (kB)", |step| step.attention as f64 / 1e3),
            chart("blocks held", |step| step.blocks as f64),
        ]
    }

    pub(super) fn experts(runs: &[ExpertsRun]) -> Vec<LineChart> {
        let mut charts = Vec::new();
        for run in runs {
            let expected = |size: usize| (size as f64, run.mixture.expected(size));
            let counted =
                run.batches.iter().map(|batch| (batch.size as f64, run.measured(batch.size)));
            charts.push(LineChart {
                x: Axis::linear("sequences in the batch"),
                y: Axis::linear(&format!("taken of {} experts", run.mixture.count)),
                series: vec![
                    Series::new("expected", (1..=LARGEST_BATCH).map(expected)),
                    Series::new("counted", counted),
                ],
            });
        }
        for run in runs {
            let series = |label: &str, model: usize| {
                let gain = |batch| run.gains(batch)[model];
                let points = run.batches.iter().map(|batch| (batch.size as f64, gain(batch)));
                Series::new(label, points)
            };
            charts.push(LineChart {
                x: Axis::linear("sequences in the batch"),
                y: Axis::linear(&format!("gain, {} experts", run.mixture.count)),
                series: vec![series("experts", 0), series("dense, same work", 1)],
            });
        }
        charts
    }

    pub(super) fn ropes() -> Vec<LineChart> {
        let all = ropes::wavelengths();
        let of = |names: &[usize], value: &dyn Fn(usize, usize) -> f64| {
            let series = names.iter().map(|&i| {
                let (name, lengths) = &all[i];
                Series::new(name, (0..lengths.len()).map(|pair| (pair as f64, value(i, pair))))
            });
            series.collect()
        };
        let length = |i: usize, pair: usize| all[i].1[pair];
        vec![
            LineChart {
                x: Axis::linear("pair"),
                y: Axis::log("positions for a turn"),
                series: of(&[0, 3, 1], &length),
            },
            LineChart {
                x: Axis::linear("pair"),
                y: Axis::linear("times that of base 10000"),
                series: of(&[2, 3], &|i, pair| length(i, pair) / length(0, pair)),
            },
        ]
    }
}
