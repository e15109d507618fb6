//! The output of `08_scheduler`: what each step did for each request.

use std::fmt::Write;

use serde_json::{Value, json};
use slowburn::engine::{EngineConfig, Policy};
use slowburn::pretrained::Pretrained;

use slowburn_examples::cli::{BOLD, DIM, Result, print};

use super::super::args::ScheduleArgs;
use super::{Mark, Step, Timeline, milliseconds};

/// Columns of a block of the timeline, and of all of them.
const COLUMNS: usize = 9;
const MOST_COLUMNS: usize = 8 * COLUMNS;
/// The characters of a column.
const CELL: usize = 8;

/// The cells of a request that computes nothing in a step, and why.
const WORDS: [(Mark, &str); 4] = [
    (Mark::Waiting, "it waits to be admitted"),
    (Mark::OverBudget, "it runs, and no token of the step is left for its prompt"),
    (
        Mark::Deferred,
        "it runs, and an earlier one computes the block that it needs next",
    ),
    (Mark::Stalled, "it runs, and no block is left for its next token"),
];

/// Prints what each step did for each request, and what each request waited for.
///
/// # Errors
/// Ids that cannot be decoded; a closed standard output.
pub fn timeline(
    args: &ScheduleArgs,
    pretrained: &Pretrained,
    timeline: &Timeline<'_>,
) -> Result<()> {
    print(args.batch.json, &timeline.json(pretrained)?, &timeline.text())?;
    args.batch.model.report_blocks(pretrained.model.kv_pool());
    Ok(())
}

impl Mark {
    fn text(self) -> String {
        match self {
            Self::Prefill(tokens) => tokens.to_string(),
            Self::Absent => String::new(),
            Self::Waiting => "wait".to_owned(),
            Self::Decode => "•".to_owned(),
            Self::OverBudget => "budget".to_owned(),
            Self::Deferred => "defer".to_owned(),
            Self::Stalled => "stall".to_owned(),
            Self::Preempted => "✕".to_owned(),
        }
    }
}

impl Timeline<'_> {
    fn text(&self) -> String {
        let mut out = self.heading();
        self.write_columns(&mut out);
        self.write_legend(&mut out);
        self.write_table(&mut out);
        out
    }

    fn heading(&self) -> String {
        let EngineConfig { policy, max_running, token_budget, .. } = self.config;
        let limits = match policy {
            Policy::OneAtATime => String::new(),
            Policy::ChunkedPrefill => {
                format!(": at most {max_running} sequences and {token_budget} tokens in a step")
            }
            _ => format!(": at most {max_running} sequences in a step"),
        };
        let (steps, ms) = (self.steps.len(), milliseconds(self.time()));
        format!("{BOLD}{policy}{BOLD:#}{limits}.\n{steps} steps in {ms:.0} ms\n\n")
    }

    /// Writes a column for each step. Steps that do the same are one column.
    fn write_columns(&self, out: &mut String) {
        let runs: Vec<&[Step]> =
            self.steps.chunk_by(|a, b| a.marks == b.marks).take(MOST_COLUMNS).collect();
        let mut first = 0;
        for runs in runs.chunks(COLUMNS) {
            let _ = write!(out, "{:<7}", "step");
            for run in runs {
                let last = first + run.len() - 1;
                let steps = if run.len() == 1 {
                    first.to_string()
                } else {
                    format!("{first}-{last}")
                };
                let _ = write!(out, "{steps:>CELL$}");
                first += run.len();
            }
            out.push('\n');
            for place in 0..self.rows.len() {
                let mut line = format!("{:<7}", place + 1);
                for run in runs {
                    let _ = write!(line, "{:>CELL$}", run[0].marks[place].text());
                }
                let _ = writeln!(out, "{}", line.trim_end());
            }
            let _ = write!(out, "{DIM}{:<7}", "tokens");
            for run in runs {
                let tokens: usize = run[0].marks.iter().map(|mark| mark.tokens()).sum();
                let _ = write!(out, "{tokens:>CELL$}");
            }
            let _ = writeln!(out, "{DIM:#}\n");
        }
        if first < self.steps.len() {
            let _ = writeln!(out, "... and {} more steps\n", self.steps.len() - first);
        }
    }

    /// Writes what the cells mean: the words that are in none of them are left out.
    fn write_legend(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "{DIM}A number: so many tokens read (prefill). •: one token (decode). ✕: \
             preempted.{DIM:#}"
        );
        for (mark, meaning) in WORDS {
            if self.steps.iter().any(|step| step.marks.contains(&mark)) {
                let _ = writeln!(out, "{DIM}{}: {meaning}.{DIM:#}", mark.text());
            }
        }
        out.push('\n');
    }

    fn write_table(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "{:>52}{:>9}\n   arrives prompt cached  new waited{:>7}{:>9}{:>9}{:>11}{:>7}",
            "first token after", "longest", "steps", "ms", "gap ms", "preempted", "again"
        );
        for (place, row) in self.rows.iter().enumerate() {
            let Some(found) = &row.generation else {
                continue;
            };
            let (steps, ttft) = row.ttft().unwrap_or_default();
            let _ = writeln!(
                out,
                "{:<3}{:>7}{:>7}{:>7}{:>5}{:>7}{steps:>7}{:>9.1}{:>9.1}{:>11}{:>7}",
                place + 1,
                row.arrived.unwrap_or_default().0,
                self.requests[place].prompt.len(),
                found.cached_tokens,
                found.ids.len(),
                self.waited(place),
                milliseconds(ttft),
                milliseconds(row.gaps().max().unwrap_or_default()),
                found.preemptions,
                row.read_again,
            );
        }
    }

    fn json(&self, pretrained: &Pretrained) -> Result<Value> {
        let step = |(number, step): (usize, &Step)| {
            json!({
                "step": number,
                "tokens": step.marks.iter().map(|mark| mark.tokens()).sum::<usize>(),
                "decisions": step.decisions,
                "end_seconds": step.end.as_secs_f64(),
            })
        };
        let sequences: Result<Vec<Value>> =
            (0..self.rows.len()).map(|place| self.sequence(place, pretrained)).collect();
        Ok(json!({
            "config": self.config,
            "steps": self.steps.iter().enumerate().map(step).collect::<Vec<_>>(),
            "sequences": sequences?,
            "seconds": self.time().as_secs_f64(),
        }))
    }

    fn sequence(&self, place: usize, pretrained: &Pretrained) -> Result<Value> {
        let row = &self.rows[place];
        let found = row.generation.as_ref();
        let ids = found.map_or(&[][..], |found| &found.ids);
        Ok(json!({
            "id": self.place_of.iter().find(|(_, at)| **at == place).map(|(id, _)| id),
            "prompt_ids": self.requests[place].prompt,
            "ids": ids,
            "text": pretrained.tokenizer.decode(ids)?,
            "finish_reason": found.map(|found| &found.finish_reason),
            "arrived_before_step": row.arrived.map(|(step, _)| step),
            "waited_steps": self.waited(place),
            "ttft_steps": row.ttft().map(|(steps, _)| steps),
            "ttft_seconds": row.ttft().map(|(_, time)| time.as_secs_f64()),
            "longest_gap_seconds": row.gaps().max().map(|gap| gap.as_secs_f64()),
            "cached_tokens": found.map(|found| found.cached_tokens),
            "read_again": row.read_again,
            "preemptions": found.map(|found| found.preemptions),
            "logits_hash": found.map(|found| &found.logits_hash),
        }))
    }
}
