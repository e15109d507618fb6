use std::path::Path;

use super::axis::Axis;
use super::error::{Error, Result};
use super::lines::{LineChart, Series, lines};

/// One line of a training log.
#[derive(Debug, Clone, PartialEq)]
pub struct LossPoint {
    pub step: u64,
    /// Which texts it was measured on, such as `train`.
    pub set: String,
    /// Cross-entropy in nats per token.
    pub loss: f64,
}

impl LossPoint {
    /// Reads a log: CSV whose first line names the columns, of which `step`, `set` and `loss` are
    /// read.
    ///
    /// # Errors
    /// A missing column, and a line that cannot be read, by its number.
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

/// Draws a training run: loss against step, one line a set in the order in which they appear.
/// Where the log goes back to an earlier step, as it does when a run was resumed, the later lines
/// replace the earlier ones.
///
/// # Errors
/// As [`lines`].
pub fn loss(path: impl AsRef<Path>, title: &str, points: &[LossPoint]) -> Result<()> {
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
