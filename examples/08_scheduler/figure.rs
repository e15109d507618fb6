//! `--chart FILE`: the timeline as a figure.

use std::path::Path;

#[cfg(feature = "plot")]
use slowburn_examples::chart::{TimelineMark, TimelineStep};
use slowburn_examples::cli::Result;

#[cfg(feature = "plot")]
use super::timeline::Mark;
use super::timeline::Timeline;

/// Draws a timeline to `path`, whose extension selects the format.
///
/// # Errors
/// Always, without the feature `plot`.
#[cfg(not(feature = "plot"))]
pub fn draw(_: &Path, _: &Timeline<'_>) -> Result<()> {
    Err(slowburn_examples::cli::Error::ChartsNotCompiled)
}

/// Draws a timeline to `path`, whose extension selects the format.
///
/// # Errors
/// An extension other than `.svg` and `.png`; a path that cannot be written.
#[cfg(feature = "plot")]
pub fn draw(path: &Path, timeline: &Timeline<'_>) -> Result<()> {
    let title = format!("Who takes part in each step: {}", timeline.policy());
    let steps: Vec<_> = timeline.steps().map(step).collect();
    Ok(slowburn_examples::chart::timeline(path, &title, &steps, timeline.budget())?)
}

#[cfg(feature = "plot")]
fn step((end_seconds, marks): (f64, &[Mark])) -> TimelineStep {
    let mark = |mark: &Mark| match mark {
        Mark::Absent => TimelineMark::Absent,
        Mark::Prefill(_) => TimelineMark::Prefill,
        Mark::Decode => TimelineMark::Decode,
        Mark::Preempted => TimelineMark::Preempted,
        Mark::Waiting | Mark::OverBudget | Mark::Deferred | Mark::Stalled => TimelineMark::Waiting,
    };
    TimelineStep {
        end_seconds,
        tokens: marks.iter().map(|mark| mark.tokens()).sum(),
        marks: marks.iter().map(mark).collect(),
    }
}
