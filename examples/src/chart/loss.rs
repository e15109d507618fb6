use std::path::Path;

use super::axis::Axis;
use super::error::{Error, Result};
use super::lines::{LineChart, Series, lines};

/// One row of a training log.
#[derive(Debug, Clone, PartialEq)]
pub struct LossPoint {
    pub step: u64,
    /// The data set of the measurement, such as `train`.
    pub set: String,
    /// Cross-entropy in nats per token.
    pub loss: f64,
}

impl LossPoint {
    /// Parses a log: CSV with a header row. Uses the columns `step`, `set` and `loss`.
    ///
    /// # Errors
    /// A missing column; a row that cannot be parsed, with its line number.
    pub fn read_csv(csv: &str) -> Result<Vec<Self>> {
        let refuse = |line: usize, problem: &'static str| Error::LossLog { line, problem };
        let mut rows = (1..).zip(csv.lines());
        let names: Vec<&str> = rows.next().map_or(vec![], |(_, names)| names.split(',').collect());
        let column = |name: &str, problem| {
            names.iter().position(|&column| column == name).ok_or(refuse(1, problem))
        };
        let step = column("step", "there is no column `step`")?;
        let set = column("set", "there is no column `set`")?;
        let loss = column("loss", "there is no column `loss`")?;

        let read = |(line, row): (usize, &str)| {
            let fields: Vec<&str> = row.split(',').collect();
            let [Some(step), Some(set), Some(loss)] = [step, set, loss].map(|at| fields.get(at))
            else {
                return Err(refuse(line, "it has fewer columns than the first line"));
            };
            Ok(Self {
                step: step.parse().map_err(|_| refuse(line, "its step is not a whole number"))?,
                set: (*set).to_owned(),
                loss: loss.parse().map_err(|_| refuse(line, "its loss is not a number"))?,
            })
        };
        rows.map(read).collect()
    }
}

/// Draws a training run: loss against step, one line per data set in order of appearance. If the
/// log returns to an earlier step, as after a resumed run, the later rows replace the earlier ones.
///
/// # Errors
/// As [`lines`].
pub fn loss(path: &Path, title: &str, points: &[LossPoint]) -> Result<()> {
    let mut series: Vec<Series> = Vec::new();
    for point in points {
        let at = (point.step as f64, point.loss);
        match series.iter_mut().find(|series| series.label == point.set) {
            Some(series) => {
                series.points.retain(|&(step, _)| step < at.0);
                series.points.push(at);
            }
            None => series.push(Series::new(&point.set, [at])),
        }
    }
    let chart = LineChart {
        x: Axis::linear("training step"),
        y: Axis::linear("loss (nats per token)"),
        series,
    };
    lines(path, title, &[chart])
}
