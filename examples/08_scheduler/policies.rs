//! The table of `08_scheduler --compare`.

use std::fmt::Write;
use std::time::Duration;

use serde_json::json;
use slowburn::engine::Policy;

use slowburn_examples::cli::{Result, print};

use super::args::ScheduleArgs;
use super::timeline::{Timeline, milliseconds};

/// Prints what each policy makes of the same requests.
///
/// # Errors
/// A closed standard output.
pub fn policies(args: &ScheduleArgs, timelines: &[Timeline<'_>]) -> Result<()> {
    let objects: Vec<_> = timelines
        .iter()
        .map(|timeline| {
            let (ttft, gaps) = (Times::of(timeline.ttfts()), Times::of(timeline.gaps()));
            let hashes: Vec<_> = timeline.generations().map(|found| &found.logits_hash).collect();
            json!({
                "policy": timeline.policy(),
                "steps": timeline.count_of_steps(),
                "mean_ttft_seconds": ttft.mean.as_secs_f64(),
                "longest_ttft_seconds": ttft.longest.as_secs_f64(),
                "mean_gap_seconds": gaps.mean.as_secs_f64(),
                "longest_gap_seconds": gaps.longest.as_secs_f64(),
                "p99_gap_seconds": percentile(timeline.gaps(), 99).as_secs_f64(),
                "median_prefill_step_seconds":
                    percentile(timeline.prefill_steps(), 50).as_secs_f64(),
                "tokens_per_second": tokens_per_second(timeline),
                "logits_hashes": hashes,
            })
        })
        .collect();
    print(args.batch.json, &json!({ "policies": objects }), &table(timelines))
}

fn table(timelines: &[Timeline<'_>]) -> String {
    let mut out = format!(
        "{:<18}{:>6}{:>22}{:>23}{:>10}\n{:<18}{:>6}{:>12}{:>10}{:>13}{:>10}{:>10}\n",
        "",
        "",
        "time to first token",
        "between two tokens",
        "",
        "policy",
        "steps",
        "mean",
        "longest",
        "mean",
        "longest",
        "tokens/s"
    );
    for timeline in timelines {
        let (ttft, gaps) = (Times::of(timeline.ttfts()), Times::of(timeline.gaps()));
        let _ = writeln!(
            out,
            "{:<18}{:>6}{:>9.1} ms{:>7.1} ms{:>10.2} ms{:>7.1} ms{:>10.0}",
            timeline.policy(),
            timeline.count_of_steps(),
            milliseconds(ttft.mean),
            milliseconds(ttft.longest),
            milliseconds(gaps.mean),
            milliseconds(gaps.longest),
            tokens_per_second(timeline),
        );
    }
    let chunked = timelines.iter().find(|timeline| timeline.policy() == Policy::ChunkedPrefill);
    let _ = chunked.map(|timeline| writeln!(out, "\n{}", in_chunks(timeline)));
    let _ = writeln!(
        out,
        "\n{}",
        if wrote_the_same(timelines) {
            "All wrote the same tokens."
        } else {
            "The texts differ."
        }
    );
    out
}

/// What the chunks of prompts cost those who decode.
fn in_chunks(timeline: &Timeline<'_>) -> String {
    let gap = milliseconds(percentile(timeline.gaps(), 99));
    let step = milliseconds(percentile(timeline.prefill_steps(), 50));
    format!(
        "{}: between two tokens, the 99th percentile is {gap:.1} ms,\n{:.2} times the median step that reads a chunk ({step:.1} ms).",
        timeline.policy(),
        gap / step.max(1e-9)
    )
}

/// The nearest-rank percentile; zero of nothing.
fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100);
    times.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

fn wrote_the_same(timelines: &[Timeline<'_>]) -> bool {
    let ids = |timeline: &Timeline<'_>| -> Vec<Vec<u32>> {
        timeline.generations().map(|found| found.ids.clone()).collect()
    };
    timelines.windows(2).all(|pair| ids(&pair[0]) == ids(&pair[1]))
}

fn tokens_per_second(timeline: &Timeline<'_>) -> f64 {
    let tokens: usize = timeline.generations().map(|found| found.ids.len()).sum();
    tokens as f64 / timeline.time().as_secs_f64().max(1e-9)
}

struct Times {
    mean: Duration,
    longest: Duration,
}

impl Times {
    fn of(times: Vec<Duration>) -> Self {
        let count = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
        Self {
            mean: times.iter().sum::<Duration>() / count,
            longest: times.into_iter().max().unwrap_or_default(),
        }
    }
}
