//! Tables of reports.

use super::report::{Percentiles, Report};
use super::traffic::Traffic;
use crate::simulate::table::{Table, time};

/// Where the client was late by more than this, a line says so.
const LATE: f64 = 0.005;

/// What is sent, in a line.
pub fn describe(traffic: &Traffic, rounds: usize) -> String {
    let shared = match (traffic.shared_prefix, traffic.prefixes) {
        (0, _) => String::new(),
        (tokens, 1) => format!(", {tokens} of them shared"),
        (tokens, prefixes) => format!(", {tokens} of them one of {prefixes} prefixes"),
    };
    let rounds = match rounds {
        1 => "1 round".to_owned(),
        rounds => format!("{rounds} rounds"),
    };
    format!(
        "{} requests a round, {} prompt tokens{shared}, {} new tokens, {rounds}, seed {}",
        traffic.requests, traffic.prompt_tokens, traffic.max_tokens, traffic.seed
    )
}

/// A row for each report, then whatever was not as it should be.
pub fn reports(reports: &[Report]) -> String {
    let headings = [
        "server",
        "load",
        "status",
        "TTFT p50",
        "p90",
        "p99",
        "between tokens p50",
        "p90",
        "p99",
        "end to end p50",
        "p90",
        "p99",
        "tokens/s",
    ];
    let mut table = Table::new(3, headings);
    for report in reports {
        let texts = [
            report.server.clone(),
            report.level.to_string(),
            statuses(report),
        ];
        let times = [
            report.time_to_first_token,
            report.inter_token,
            report.end_to_end,
        ];
        let times =
            times.into_iter().flat_map(|Percentiles { p50, p90, p99 }| [p50, p90, p99].map(time));
        let throughput = format!("{:.1}", report.throughput);
        table.row(texts.into_iter().chain(times).chain([throughput]));
    }
    let mut text = table.text();
    for report in reports {
        for remark in remarks(report) {
            text += &format!("\n{}, {}: {remark}", report.server, report.level);
        }
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// What was not as it should be in one report.
fn remarks(report: &Report) -> Vec<String> {
    let mut remarks = Vec::new();
    if report.latest > LATE {
        remarks.push(format!("the client sent a request {} late", time(report.latest)));
    }
    if report.cached_tokens > 0 {
        let share = report.cached_tokens as f64 / report.prompt_tokens.max(1) as f64;
        let percent = 100.0 * share;
        remarks.push(format!("{percent:.0} % of the prompt tokens came from prefix caches"));
    }
    remarks.extend(report.failures.iter().take(3).map(|failure| failure.trim_end().to_owned()));
    remarks
}

/// Each status, and how many answers had it.
pub fn statuses(report: &Report) -> String {
    let status = |(status, count): (&String, &usize)| format!("{status}: {count}");
    report.statuses.iter().map(status).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::level::Level;
    use super::super::report::tests::outcome;
    use super::*;

    #[test]
    fn a_row_has_the_times_and_what_is_wrong_is_below() {
        let mut broken = outcome(0.0, &[]);
        broken.failure = Some("it ended".to_owned());
        let rounds = [vec![outcome(0.0, &[0.5, 1.0]), broken]];
        let table = reports(&[Report::new("a", Level::Clients(2), &rounds)]);
        let lines: Vec<&str> = table.lines().collect();
        let cells: Vec<&str> = lines[2].split('|').map(str::trim).collect();
        let expected = [
            "a",
            "2 clients",
            "200: 1, broken off: 1",
            "500 ms",
            "500 ms",
            "500 ms",
            "500 ms",
        ];
        assert_eq!(cells[1..8], expected);
        assert_eq!(cells[13], "2.0");
        assert_eq!(lines[4], "a, 2 clients: the client sent a request 250 ms late");
        assert_eq!(lines[5], "a, 2 clients: 40 % of the prompt tokens came from prefix caches");
        assert_eq!(lines[6], "a, 2 clients: it ended");
    }
}
