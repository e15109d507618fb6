//! What a token of a long text reads, and what the text holds.

use std::fmt::Write;

use serde_json::{Value, json};
use slowburn::engine::SequenceId;
use slowburn::generate::Batch;
use slowburn::kernels::trace::{Call, Operation};

use super::shapes::WindowPattern;

/// A step of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowStep {
    /// The number of positions that were written.
    pub(super) length: usize,
    /// What attention read and wrote in this step, in bytes.
    pub(super) attention: u64,
    /// The blocks that the text holds.
    pub(super) blocks: usize,
}

impl WindowStep {
    /// What the kernels did in a step of sequence `id`. None where the sequence has left.
    pub fn of(batch: &Batch<'_>, id: SequenceId, calls: &[Call]) -> Option<Self> {
        let attention = calls.iter().filter(|call| call.operation == Operation::Attention);
        let scheduler = batch.scheduler();
        let table = scheduler.table(id)?;
        Some(Self {
            length: table.length(),
            attention: attention.map(|call| call.cost.bytes).sum(),
            blocks: table.blocks().len(),
        })
    }
}

/// The steps whose numbers are printed: at powers of two, and the last.
fn is_printed(step: &WindowStep, last: usize) -> bool {
    step.length == last || (step.length >= 64 && step.length.is_power_of_two())
}

pub(super) fn text_and_json(runs: &[(WindowPattern, Vec<WindowStep>)]) -> (String, Value) {
    let mut out = String::new();
    let heads: String = runs.iter().map(|(pattern, _)| format!("{:>23}", pattern.name())).collect();
    let _ = writeln!(out, "{:<10}{heads}", "");
    let pair = format!("{:>13}{:>10}", "kB read", "blocks");
    let _ = writeln!(out, "{:<10}{}", "tokens", pair.repeat(runs.len()));
    let steps = runs.first().map_or(&[][..], |(_, steps)| steps);
    let last = steps.last().map_or(0, |step| step.length);
    for (i, step) in steps.iter().enumerate().filter(|(_, step)| is_printed(step, last)) {
        let cell = |(_, steps): &(WindowPattern, Vec<WindowStep>)| match steps.get(i) {
            Some(step) => format!("{:>13.1}{:>10}", step.attention as f64 / 1e3, step.blocks),
            None => String::new(),
        };
        let cells: String = runs.iter().map(cell).collect();
        let _ = writeln!(out, "{:<10}{cells}", step.length);
    }
    let of = |step: &WindowStep| json!([step.length, step.attention, step.blocks]);
    let json = runs.iter().map(|(pattern, steps)| {
        json!({
            "windows": pattern.name(),
            "length_bytes_blocks": steps.iter().map(of).collect::<Vec<_>>(),
        })
    });
    (out, json.collect())
}
