//! Charts of reports.

use std::path::Path;

use slowburn_examples::chart::{self, Axis, LineChart, Series};

use super::level::Level;
use super::report::{Curves, Percentiles, Report};
use crate::simulate;
use crate::simulate::percentiles::percentile;

/// Draws the times: over the levels where there are several, else the share of requests and of
/// tokens that take no longer than a time.
pub fn draw(file: &Path, reports: &[Report]) -> chart::Result<()> {
    let is_one = reports.windows(2).all(|pair| pair[0].level == pair[1].level);
    let charts = if is_one {
        curves(reports)
    } else {
        over_levels(reports)
    };
    simulate::chart::draw(file, "A server under load", charts)
}

fn curves(reports: &[Report]) -> Vec<LineChart> {
    let chart = |label: &str, times: fn(&Curves) -> &[f64]| {
        let points = |report: &Report| {
            let times = times(&report.curves).to_vec();
            let percents = (1..=100).filter(|_| !times.is_empty()).map(f64::from);
            percents.map(|p| (1e3 * percentile(&times, p), p)).collect::<Vec<_>>()
        };
        LineChart {
            x: Axis::log(label),
            y: Axis::linear("take no longer (%)"),
            series: reports.iter().map(|r| Series::new(&r.server, points(r))).collect(),
        }
    };
    vec![
        chart("time to first token (ms)", |curves| &curves.time_to_first_token),
        chart("time between tokens (ms)", |curves| &curves.inter_token),
    ]
}

fn over_levels(reports: &[Report]) -> Vec<LineChart> {
    let mut servers: Vec<&str> = reports.iter().map(|report| report.server.as_str()).collect();
    servers.dedup();
    let x = match reports.first().map(|report| report.level) {
        Some(Level::Clients(_)) => "clients",
        _ => "requests per second",
    };
    let line = |server: &str, label: &str, value: &dyn Fn(&Report) -> f64| {
        let of_server = reports.iter().filter(|report| report.server == server);
        let points = of_server.map(|report| (report.level.value(), value(report)));
        let label = match (servers.len(), label) {
            (1, label) => label.to_owned(),
            (_, "") => server.to_owned(),
            _ => format!("{server}, {label}"),
        };
        Series::new(&label, points.filter(|(_, value)| value.is_finite()))
    };
    let chart = |label: &str, series: Vec<Series>| LineChart {
        x: Axis::log(x),
        y: Axis::linear(label),
        series,
    };
    let times = |label: &str, times: fn(&Report) -> Percentiles| {
        let of = |server: &&str| {
            [
                line(server, "median", &|report| 1e3 * times(report).p50),
                line(server, "90th percentile", &|report| 1e3 * times(report).p90),
                line(server, "99th percentile", &|report| 1e3 * times(report).p99),
            ]
        };
        chart(label, servers.iter().flat_map(of).collect())
    };
    let throughput = servers.iter().map(|server| line(server, "", &|report| report.throughput));
    vec![
        times("time to first token (ms)", |report| report.time_to_first_token),
        times("time between tokens (ms)", |report| report.inter_token),
        chart("throughput (tokens/s)", throughput.collect()),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::outcome;
    use super::*;

    #[test]
    fn one_level_is_drawn_as_curves_and_several_over_their_load() {
        let report = |server: &str, clients| {
            let rounds = [vec![outcome(0.0, &[0.5, 1.0, 2.0])]];
            Report::new(server, Level::Clients(clients), &rounds)
        };
        let folder = tempfile::tempdir().unwrap();
        let drawn = |name: &str, reports: &[Report]| {
            let file = folder.path().join(name);
            draw(&file, reports).unwrap();
            std::fs::read_to_string(file).unwrap()
        };
        let one = drawn("one.svg", &[report("a", 1)]);
        assert!(one.contains("take no longer") && !one.contains("clients"));
        let four = [
            report("a", 1),
            report("a", 4),
            report("b", 1),
            report("b", 4),
        ];
        let several = drawn("several.svg", &four);
        for text in ["clients", "throughput", "b, 99th percentile"] {
            assert!(several.contains(text), "{text}");
        }
    }
}
