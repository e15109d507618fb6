//! Charts of runs.

use std::path::Path;

use slowburn_examples::chart::{self, Axis, LineChart, Series};

use super::percentiles::Percentiles;
use super::report::{Curves, Report};
use super::variants::{Sweep, Variant};

/// A run and its report.
pub type Row = (Variant, Report);

/// Draws the share of requests and of tokens that take no longer than a time, a line for each run.
pub fn policies(file: &Path, rows: &[Row]) -> chart::Result<()> {
    let chart = |label: &str, times: fn(&Curves) -> &[f64]| {
        let series = rows.iter().filter(|(_, report)| !times(&report.curves).is_empty());
        let points = |report: &Report| {
            let percents = (1..).map(f64::from);
            times(&report.curves).iter().map(|time| 1e3 * time).zip(percents).collect::<Vec<_>>()
        };
        LineChart {
            x: Axis::log(label),
            y: Axis::linear("take no longer (%)"),
            series: series
                .map(|(variant, report)| Series::new(&variant.label, points(report)))
                .collect(),
        }
    };
    let first = chart("time to first token (ms)", |curves| &curves.time_to_first_token);
    let next = chart("time between tokens (ms)", |curves| &curves.inter_token);
    draw(file, "Who takes part in a step", [first, next])
}

/// Draws median and 99th percentile of the times, and the throughput, against the setting.
pub fn sweep(file: &Path, sweep: Sweep, rows: &[Row]) -> chart::Result<()> {
    let line = |label: &str, value: &dyn Fn(&Report) -> f64| {
        let points = rows.iter().map(|(variant, report)| (variant.value as f64, value(report)));
        Series::new(label, points.filter(|(_, value)| value.is_finite()))
    };
    let chart = |label: &str, series: Vec<Series>| LineChart {
        x: Axis::log(&format!("{} ({})", sweep.name(), sweep.unit())),
        y: Axis::linear(label),
        series,
    };
    let times = |label: &str, times: fn(&Report) -> Percentiles| {
        let median = line("median", &|report| 1e3 * times(report).p50);
        let p99 = line("99th percentile", &|report| 1e3 * times(report).p99);
        chart(label, vec![median, p99])
    };
    let first = times("time to first token (ms)", |report| report.time_to_first_token);
    let next = times("time between tokens (ms)", |report| report.inter_token);
    let throughput = chart("throughput (tokens/s)", vec![line("", &|report| report.throughput)]);
    draw(file, &format!("Chunked prefill by {}", sweep.name()), [first, next, throughput])
}

/// Draws the charts that have something to show: requests of one token have no times between.
pub fn draw(
    file: &Path,
    title: &str,
    charts: impl IntoIterator<Item = LineChart>,
) -> chart::Result<()> {
    let has_points =
        |chart: &LineChart| chart.series.iter().any(|series| !series.points.is_empty());
    chart::lines(file, title, &charts.into_iter().filter(has_points).collect::<Vec<_>>())
}
