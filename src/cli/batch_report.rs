//! What `06_batching` shows: the texts, and what it cost to write them side by side.

use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use super::report::{bytes, why};
use super::terminal::write;
use super::{BOLD, BatchArgs, DIM};
use crate::error::Result;
use crate::generate::{Generation, Options};
use crate::pretrained::Pretrained;

/// Watches a batch and shows it.
pub struct BatchReport<'a> {
    args: &'a BatchArgs,
    pretrained: &'a Pretrained,
    prompts: &'a [Vec<u32>],
    options: &'a [Options],
    start: Instant,
    /// When each sequence had its last token.
    last_token: Vec<Duration>,
}

impl<'a> BatchReport<'a> {
    /// Starts the clock.
    pub fn start(
        args: &'a BatchArgs,
        pretrained: &'a Pretrained,
        prompts: &'a [Vec<u32>],
        options: &'a [Options],
    ) -> Self {
        Self {
            args,
            pretrained,
            prompts,
            options,
            start: Instant::now(),
            last_token: vec![Duration::ZERO; prompts.len()],
        }
    }

    /// The sequence at `place` has one more token.
    pub fn token(&mut self, place: usize) {
        self.last_token[place] = self.start.elapsed();
    }

    /// Stops the clock and prints all, or a JSON object for each sequence.
    ///
    /// # Errors
    /// Ids that cannot be decoded; standard output that is closed.
    pub fn finish(self, generations: &[Generation]) -> Result<()> {
        let total = self.start.elapsed();
        match self.args.json {
            true => write(&self.json(generations)?),
            false => write(&self.text(generations, total)?),
        }
    }

    fn json(&self, generations: &[Generation]) -> Result<String> {
        let mut out = String::new();
        for (place, found) in generations.iter().enumerate() {
            let object = json!({
                "prompt_ids": self.prompts[place],
                "ids": found.ids,
                "text": self.pretrained.tokenizer.decode(&found.ids)?,
                "finish_reason": found.finish_reason,
                "seed": self.options[place].sampling.seed,
                "seconds": self.last_token[place].as_secs_f64(),
                "tokens_per_second": self.rate(place, found),
                "padding": self.padding(place),
                "kv_cache_bytes": found.kv_cache_bytes,
            });
            let _ = writeln!(out, "{object}");
        }
        Ok(out)
    }

    fn text(&self, generations: &[Generation], total: Duration) -> Result<String> {
        let mut out = String::new();
        let tokenizer = &self.pretrained.tokenizer;
        for (place, found) in generations.iter().enumerate() {
            let text = tokenizer.decode(&[&self.prompts[place][..], &found.ids].concat())?;
            let _ = writeln!(out, "{BOLD}{}{BOLD:#}  {text}\n", place + 1);
        }
        let _ = writeln!(out, "   prompt   padding     new    tokens/s    KV cache   ended");
        for (place, found) in generations.iter().enumerate() {
            let _ = writeln!(
                out,
                "{:<3}{:>6}{:>10}{:>8}{:>12.0}{:>12}   {DIM}{}{DIM:#}",
                place + 1,
                self.prompts[place].len(),
                self.padding(place),
                found.ids.len(),
                self.rate(place, found),
                bytes(found.kv_cache_bytes),
                why(found.finish_reason),
            );
        }
        let sum = |of: &dyn Fn(usize) -> usize| (0..generations.len()).map(of).sum::<usize>();
        let (prompt, padding) = (sum(&|i| self.prompts[i].len()), sum(&|i| self.padding(i)));
        let new = sum(&|i| generations[i].ids.len());
        let _ = writeln!(
            out,
            "all{prompt:>6}{padding:>10}{new:>8}{:>12.0}{:>12}   in {:.2} s",
            per_second(new, total),
            bytes(sum(&|i| generations[i].kv_cache_bytes)),
            total.as_secs_f64(),
        );
        let share = 100.0 * padding as f64 / (prompt + padding).max(1) as f64;
        let _ = writeln!(
            out,
            "\nAs a rectangle, the prompts take {} positions, of which {padding} ({share:.0}%) are padding.",
            prompt + padding
        );
        Ok(out)
    }

    // ANCHOR: padding
    /// How many positions a prompt lacks to be as long as the longest.
    fn padding(&self, place: usize) -> usize {
        let longest = self.prompts.iter().map(Vec::len).max().unwrap_or(0);
        longest - self.prompts[place].len()
    }
    // ANCHOR_END: padding

    /// Tokens per second of one sequence, from the start of the batch to its last token.
    fn rate(&self, place: usize, found: &Generation) -> f64 {
        per_second(found.ids.len(), self.last_token[place])
    }
}

/// One row of `06_batching --compare`.
pub struct BatchSize {
    /// How many sequences.
    pub sequences: usize,
    /// How many tokens they have together.
    pub tokens: usize,
    /// How many steps they took together.
    pub steps: usize,
    /// How long all of it took.
    pub time: Duration,
    /// The memory of all caches.
    pub kv_cache_bytes: usize,
}

/// Prints what batches of several sizes reached.
///
/// # Errors
/// Standard output that is closed.
pub fn batch_sizes(args: &BatchArgs, rows: &[BatchSize]) -> Result<()> {
    let per_token = |row: &BatchSize| row.time.as_secs_f64() / row.steps.max(1) as f64;
    if args.json {
        let object = |row: &BatchSize| {
            json!({
                "sequences": row.sequences,
                "tokens_per_second": per_second(row.tokens, row.time),
                "seconds_per_step": per_token(row),
                "kv_cache_bytes": row.kv_cache_bytes,
            })
        };
        let rows: Vec<_> = rows.iter().map(object).collect();
        return write(&format!("{}\n", json!({ "batch_sizes": rows })));
    }
    let mut out =
        "sequences   tokens/s in all   tokens/s of each   ms per step    KV cache\n".to_owned();
    for row in rows {
        let rate = per_second(row.tokens, row.time);
        let _ = writeln!(
            out,
            "{:>9}{rate:>18.0}{:>19.0}{:>14.2}{:>12}",
            row.sequences,
            rate / row.sequences.max(1) as f64,
            1e3 * per_token(row),
            bytes(row.kv_cache_bytes),
        );
    }
    write(&out)
}

fn per_second(tokens: usize, time: Duration) -> f64 {
    tokens as f64 / time.as_secs_f64().max(1e-9)
}
