//! Markdown tables of the results.

use super::contender::Engine;
use super::dtype::Dtype;
use super::goals::Goal;
use super::measured::Phase;
use super::rounds::{Case, Row};

/// A row for each contender: its throughput, the speedup of Slow Burn with the same type, and the
/// number of tokens that agree with Slow Burn's.
pub fn case(case: &Case) -> String {
    let mut table = "| | stored in | prefill, tokens/s | Slow Burn / it | decode, tokens/s | \
                     Slow Burn / it | same tokens |\n|---|---|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for row in &case.rows {
        let ours = case.row(Engine::Alone, row.dtype).filter(|_| row.engine != Engine::Alone);
        let ratio = |phase| match (ours, row.engine) {
            (Some(ours), Engine::Peer(_)) => format!("{:.2}", case.ratio(ours, row, phase)),
            _ => String::new(),
        };
        let same = match ours {
            Some(ours) => format!("{} of {}", row.agrees_with(ours), case.workload.new_tokens),
            None => String::new(),
        };
        table += &format!(
            "| {} | {} | {:.0} | {} | {:.1} | {} | {same} |\n",
            row.name,
            row.dtype.name(),
            case.rate(row, Phase::Prefill),
            ratio(Phase::Prefill),
            case.rate(row, Phase::Decode),
            ratio(Phase::Decode),
        );
    }
    table
}

/// The heading of a case's table.
pub fn heading(case: &Case, mib: &[(Dtype, f64)]) -> String {
    let sizes: Vec<String> =
        mib.iter().map(|(dtype, mib)| format!("{mib:.0} MiB in {}", dtype.name())).collect();
    let rounds = case.rows.first().map_or(0, |row: &Row| row.rounds.len());
    format!(
        "{}, {}: {} prompt tokens, {} new tokens, median of {rounds} rounds",
        case.model,
        sizes.join(", "),
        case.workload.prompt.len(),
        case.workload.new_tokens,
    )
}

/// Each goal with its measurement.
pub fn goals(goals: &[Goal]) -> String {
    let mut table = "| | goal | measured | |\n|---|--:|--:|---|\n".to_owned();
    for goal in goals {
        let (measured, verdict) = match (goal.measured, goal.is_met()) {
            (Some(measured), true) => (format!("{measured:.2}"), "reached"),
            (Some(measured), false) => (format!("{measured:.2}"), "missed"),
            (None, _) => ("not measured".to_owned(), ""),
        };
        table += &format!("| {} | {} | {measured} | {verdict} |\n", goal.what, goal.limit);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::contender::Peer;
    use super::super::goals::Limit;
    use super::super::rounds::tests;
    use super::*;

    #[test]
    fn a_row_has_its_rates_and_its_ratios() {
        let case = tests::case(
            "shape",
            &[
                (Engine::Alone, Dtype::F32, 1, &[(0.5, 1.0)]),
                (Engine::Peer(Peer::Candle), Dtype::F32, 1, &[(1.0, 4.0)]),
            ],
        );
        let table = super::case(&case);
        let rows: Vec<&str> = table.lines().skip(2).collect();
        let expected = [
            "| name | f32 | 200 |  | 10.0 |  |  |",
            "| name | f32 | 100 | 2.00 | 2.5 | 4.00 | 11 of 11 |",
        ];
        assert_eq!(rows, expected);
        let heading = heading(&case, &[(Dtype::F32, 512.6)]);
        let expected =
            "shape, 513 MiB in f32: 100 prompt tokens, 11 new tokens, median of 1 rounds";
        assert_eq!(heading, expected);
    }

    #[test]
    fn a_goal_is_reached_missed_or_not_measured() {
        let goal = |limit, measured| Goal { what: "x".to_owned(), limit, measured };
        let table = goals(&[
            goal(Limit::AtLeast(1.1), Some(1.2)),
            goal(Limit::AtMost(1.3), Some(1.4)),
            goal(Limit::AtLeast(1.0), None),
        ]);
        let rows: Vec<&str> = table.lines().skip(2).collect();
        let expected = [
            "| x | ≥ 1.10 | 1.20 | reached |",
            "| x | ≤ 1.30 | 1.40 | missed |",
            "| x | ≥ 1.00 | not measured |  |",
        ];
        assert_eq!(rows, expected);
    }
}
