//! The output of `06_batching`: the texts, and the cost of generating them as a batch.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use slowburn::engine::Entry;
use slowburn::generate::{Batch, Generation, Options};
use slowburn::pretrained::Pretrained;
use slowburn_flags::{bytes, note};

#[cfg(feature = "plot")]
use slowburn_examples::chart::{self, BatchSizePoint};
use slowburn_examples::cli::{
    BOLD, BatchArgs, DIM, PrefillTime, Result, accepted, saved_time_text, why, write,
};

/// Measures a batch and prints it.
pub struct BatchReport<'a> {
    args: &'a BatchArgs,
    pretrained: &'a Pretrained,
    prompts: &'a [Vec<u32>],
    options: &'a [Options],
    start: Instant,
    first_token: Option<Duration>,
    /// The time of each sequence's last token.
    last_token: Vec<Duration>,
}

impl<'a> BatchReport<'a> {
    /// Starts the timer.
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
            first_token: None,
            last_token: vec![Duration::ZERO; prompts.len()],
        }
    }

    /// Records one more token of the sequence at `index`.
    pub fn token(&mut self, index: usize) {
        let now = self.start.elapsed();
        self.first_token.get_or_insert(now);
        self.last_token[index] = now;
    }

    /// Stops the timer, prints the report, or a JSON object for each sequence, and writes the
    /// record.
    ///
    /// # Errors
    /// Ids that cannot be decoded; a closed standard output; a file that cannot be written.
    pub fn finish(self, batch: &mut Batch<'_>, generations: &[Generation]) -> Result<()> {
        let total = self.start.elapsed();
        let record = batch.take_record();
        self.args.record.write(&record)?;
        if self.args.json {
            write(&self.json(generations)?)?;
        } else {
            write(&self.text(generations, total)?)?;
        }
        self.args.model.report_blocks(self.pretrained.model.kv_pool());
        if self.args.model.block_report {
            note(&self.shared(batch, &record, generations));
        }
        Ok(())
    }

    /// What the prefix cache and preemption did, in words.
    fn shared(&self, batch: &Batch<'_>, record: &[Entry], generations: &[Generation]) -> String {
        let prompt: usize = self.prompts.iter().map(Vec::len).sum();
        let cached: usize = generations.iter().map(|found| found.cached_tokens).sum();
        let preemptions: usize = generations.iter().map(|found| found.preemptions).sum();
        let stats = batch.scheduler().blocks().prefix_stats();
        let saved = bytes(stats.saved_bytes(self.pretrained.model.kv_pool().block_bytes()));
        let first_token = self.first_token.unwrap_or_default();
        let time = PrefillTime::until_first_token(record, first_token).of(cached);
        format!(
            "  {cached} of {prompt} prompt tokens from the prefix cache, {preemptions} preemptions\n  \
             saved: {saved} of keys and values\n{}",
            time.map_or_else(String::new, saved_time_text),
        )
    }

    fn json(&self, generations: &[Generation]) -> Result<String> {
        let mut out = String::new();
        for (index, found) in generations.iter().enumerate() {
            let object = json!({
                "prompt_ids": self.prompts[index],
                "ids": found.ids,
                "text": self.pretrained.tokenizer.decode(&found.ids)?,
                "finish_reason": found.finish_reason,
                "seed": self.options[index].sampling.seed,
                "seconds": self.last_token[index].as_secs_f64(),
                "tokens_per_second": self.rate(index, found),
                "padding": self.padding(index),
                "kv_cache_bytes": found.kv_cache_bytes,
                "cached_tokens": found.cached_tokens,
                "preemptions": found.preemptions,
                "drafted": found.drafted,
                "accepted": found.accepted,
                "logits_hash": found.logits_hash,
            });
            let _ = writeln!(out, "{object}");
        }
        Ok(out)
    }

    fn text(&self, generations: &[Generation], total: Duration) -> Result<String> {
        let mut out = String::new();
        let tokenizer = &self.pretrained.tokenizer;
        for (index, found) in generations.iter().enumerate() {
            let text = tokenizer.decode(&[&self.prompts[index][..], &found.ids].concat())?;
            let _ = writeln!(out, "{BOLD}{}{BOLD:#}  {text}\n", index + 1);
        }
        let _ = writeln!(out, "   prompt   padding     new    tokens/s    KV cache   ended");
        for (index, found) in generations.iter().enumerate() {
            let _ = writeln!(
                out,
                "{:<3}{:>6}{:>10}{:>8}{:>12.0}{:>12}   {DIM}{}{DIM:#}",
                index + 1,
                self.prompts[index].len(),
                self.padding(index),
                found.ids.len(),
                self.rate(index, found),
                bytes(found.kv_cache_bytes),
                why(&found.finish_reason),
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
        let drafted = sum(&|i| generations[i].drafted);
        let line = accepted(drafted, sum(&|i| generations[i].accepted));
        if let Some(line) = line {
            let _ = writeln!(out, "\n{line}");
        }
        let share = 100.0 * padding as f64 / (prompt + padding).max(1) as f64;
        let _ = writeln!(
            out,
            "\nAs a rectangle, the prompts take {} positions, of which {padding} ({share:.0}%) are padding.",
            prompt + padding
        );
        Ok(out)
    }

    /// The padding that a prompt needs to be as long as the longest.
    fn padding(&self, index: usize) -> usize {
        let longest = self.prompts.iter().map(Vec::len).max().unwrap_or(0);
        longest - self.prompts[index].len()
    }

    /// Tokens per second of one sequence, from the start of the batch to its last token.
    fn rate(&self, index: usize, found: &Generation) -> f64 {
        per_second(found.ids.len(), self.last_token[index])
    }
}

/// One row of `06_batching --compare`.
pub struct BatchSize {
    /// The batch size.
    pub sequences: usize,
    /// Tokens of all sequences.
    pub tokens: usize,
    /// Steps of the batch.
    pub steps: usize,
    /// Total time.
    pub time: Duration,
    /// The memory of all KV caches.
    pub kv_cache_bytes: usize,
}

impl BatchSize {
    /// Throughput, summed over all sequences.
    pub fn tokens_per_second(&self) -> f64 {
        per_second(self.tokens, self.time)
    }

    /// Time per output token of each sequence, which is the time of a step.
    pub fn seconds_per_token(&self) -> f64 {
        self.time.as_secs_f64() / self.steps.max(1) as f64
    }
}

/// The relative difference up to which two measurements count as equal: repeated runs differ by as
/// much.
const NEARLY: f64 = 0.1;

/// The batch with the highest throughput, which need not be the largest.
fn fastest(rows: &[BatchSize]) -> Option<&BatchSize> {
    rows.iter().max_by(|a, b| a.tokens_per_second().total_cmp(&b.tokens_per_second()))
}

/// The batch sizes that nearly reach the highest throughput. Sizes above the first of them gain
/// nothing.
fn nearly_fastest(rows: &[BatchSize]) -> Vec<usize> {
    let highest = fastest(rows).map_or(0.0, BatchSize::tokens_per_second);
    let reaches = |row: &&BatchSize| row.tokens_per_second() >= (1.0 - NEARLY) * highest;
    rows.iter().filter(reaches).map(|row| row.sequences).collect()
}

/// The largest batch size whose time per token is no longer than that of the first of `rows`.
fn time_per_token_rises_after(rows: &[BatchSize]) -> Option<usize> {
    let lowest = rows.first()?.seconds_per_token();
    let is_low = |row: &&BatchSize| row.seconds_per_token() <= (1.0 + NEARLY) * lowest;
    rows.iter().take_while(is_low).last().map(|row| row.sequences)
}

/// Prints the measurements of several batch sizes in ascending order, the sizes with the highest
/// throughput, and the size up to which the time per token does not rise.
///
/// # Errors
/// A closed standard output.
pub fn batch_sizes(args: &BatchArgs, rows: &[BatchSize]) -> Result<()> {
    let (nearly_fastest, rises) = (nearly_fastest(rows), time_per_token_rises_after(rows));
    if args.json {
        let object = |row: &BatchSize| {
            json!({
                "sequences": row.sequences,
                "tokens_per_second": row.tokens_per_second(),
                "seconds_per_token": row.seconds_per_token(),
                "kv_cache_bytes": row.kv_cache_bytes,
            })
        };
        let object = json!({
            "batch_sizes": rows.iter().map(object).collect::<Vec<_>>(),
            "throughput_saturates_at": nearly_fastest.first(),
            "time_per_token_rises_after": rises,
        });
        return write(&format!("{object}\n"));
    }
    let mut out =
        "sequences   tokens/s in all   tokens/s of each   ms per token    KV cache\n".to_owned();
    for row in rows {
        let rate = row.tokens_per_second();
        let _ = writeln!(
            out,
            "{:>9}{rate:>18.0}{:>19.0}{:>15.2}{:>12}",
            row.sequences,
            rate / row.sequences.max(1) as f64,
            1e3 * row.seconds_per_token(),
            bytes(row.kv_cache_bytes),
        );
    }
    let percent = 100.0 * NEARLY;
    if let (Some(fastest), Some(rises)) = (fastest(rows), rises) {
        let sizes: Vec<String> = nearly_fastest.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            out,
            "\nTokens/s in all: highest with {}; within {percent:.0} % of that with {}.\n\
             Time per token: within {percent:.0} % of the first up to {rises}.",
            fastest.sequences,
            sizes.join(", ")
        );
    }
    write(&out)
}

/// Draws throughput and time per token against batch size to `path`, whose extension selects the
/// format.
///
/// # Errors
/// Always, without the feature `plot`.
#[cfg(not(feature = "plot"))]
pub fn draw(_: &Path, _: &[BatchSize]) -> Result<()> {
    Err(slowburn_examples::cli::Error::ChartsNotCompiled)
}

/// Draws throughput and time per token against batch size to `path`, whose extension selects the
/// format.
///
/// # Errors
/// An extension other than `.svg` and `.png`; a path that cannot be written.
#[cfg(feature = "plot")]
pub fn draw(path: &Path, rows: &[BatchSize]) -> Result<()> {
    let point = |row: &BatchSize| BatchSizePoint {
        sequences: row.sequences,
        tokens_per_second: row.tokens_per_second(),
        seconds_per_token: row.seconds_per_token(),
    };
    let points: Vec<_> = rows.iter().map(point).collect();
    Ok(chart::batch_sizes(path, "What a batch of each size reaches", &points)?)
}

fn per_second(tokens: usize, time: Duration) -> f64 {
    tokens as f64 / time.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measurements of the given batch sizes and step times in milliseconds.
    fn rows(sizes: &[(usize, u64)]) -> Vec<BatchSize> {
        let row = |&(sequences, milliseconds)| BatchSize {
            sequences,
            tokens: 10 * sequences,
            steps: 10,
            time: Duration::from_millis(10 * milliseconds),
            kv_cache_bytes: 0,
        };
        sizes.iter().map(row).collect()
    }

    #[test]
    fn throughput_saturates_where_a_step_takes_longer_by_as_much_as_the_batch_is_larger() {
        let found = |sizes: &[_]| {
            let rows = rows(sizes);
            (nearly_fastest(&rows), time_per_token_rises_after(&rows))
        };
        // The time per token rises after 2, and throughput saturates at 4: 200, 400, 500, 533 and
        // 516 tokens/s.
        let full = [(1, 5), (2, 5), (4, 8), (8, 15), (16, 31)];
        assert_eq!(found(&full), (vec![4, 8, 16], Some(2)));
        // Throughput still rises at the end.
        assert_eq!(found(&[(1, 5), (2, 6), (4, 7)]), (vec![4], Some(1)));
        // Batching that gains nothing.
        assert_eq!(found(&[(1, 5), (2, 10), (4, 20)]), (vec![1, 2, 4], Some(1)));
        assert_eq!(found(&[]), (vec![], None));
    }

    #[test]
    fn throughput_that_falls_again_is_not_called_flat() {
        // 200, 500, 400 and 485 tokens/s: the third is not near the highest.
        let rows = rows(&[(1, 5), (4, 8), (8, 20), (16, 33)]);
        assert_eq!(fastest(&rows).map(|row| row.sequences), Some(4));
        assert_eq!(nearly_fastest(&rows), [4, 16]);
    }
}
