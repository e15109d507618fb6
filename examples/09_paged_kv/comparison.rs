//! The output of `09_paged_kv --compare`: with a prefix cache and without, and the memory of stories.

use std::fmt::Write;
use std::iter::zip;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slowburn::engine::EngineConfig;
use slowburn::generate::{Batch, Event, Options};
use slowburn::model::Model;

use slowburn_examples::cli::{BOLD, Result, print};

use super::args::PagedArgs;
use super::report::{BlockTables, memory_text};

/// What one batch of requests, which all arrive at once, has cost.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    /// The time of each first token, ascending.
    first_tokens: Vec<Duration>,
    /// The prompt tokens that were computed.
    computed: usize,
    /// The hash of the logits of each request, in order.
    hashes: Vec<Option<String>>,
    /// The blocks of all requests when they were most.
    tables: BlockTables,
    /// The bytes of the whole capacities of all requests.
    contiguous: usize,
}

impl Requests {
    /// Runs these prompts to their ends, with a cold prefix cache.
    ///
    /// # Errors
    /// A sequence that cannot start, or fails.
    pub fn run(
        model: &Model,
        config: EngineConfig,
        prompts: &[Vec<u32>],
        options: &[Options],
    ) -> Result<Self> {
        let mut batch = Batch::with_config(model, config);
        let mut ids = Vec::new();
        for (prompt, options) in zip(prompts, options) {
            ids.push(batch.join(prompt, options)?);
        }
        let mut first = vec![None; ids.len()];
        let block_bytes = model.kv_pool().block_bytes();
        let mut found = Self {
            hashes: vec![None; ids.len()],
            contiguous: BlockTables::of(&batch.scheduler(), &ids, 0, block_bytes)
                .contiguous_bytes(),
            ..Self::default()
        };
        let start = Instant::now();
        let (mut step, mut most) = (0, 0);
        while !batch.is_empty() {
            let events = batch.step();
            step += 1;
            let now = start.elapsed();
            for (id, event) in events {
                let Ok(index) = ids.binary_search(&id) else {
                    continue;
                };
                match event {
                    Event::Token(_) => {
                        first[index].get_or_insert(now);
                    }
                    Event::Finished(text) => {
                        found.computed += prompts[index].len() - text.cached_tokens;
                        found.hashes[index] = text.logits_hash;
                    }
                    Event::Failed(error) => return Err(error.into()),
                }
            }
            if batch.kv_cache_bytes() > most {
                most = batch.kv_cache_bytes();
                found.tables = BlockTables::of(&batch.scheduler(), &ids, step, block_bytes);
            }
        }
        found.first_tokens = first.into_iter().flatten().collect();
        found.first_tokens.sort();
        Ok(found)
    }

    fn median(&self) -> Duration {
        median(&self.first_tokens)
    }

    fn last(&self) -> Duration {
        self.first_tokens.last().copied().unwrap_or_default()
    }
}

fn median(sorted: &[Duration]) -> Duration {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The medians of some rounds, in seconds, and what each computed.
struct Medians {
    /// Of the times of the median first token.
    median: f64,
    /// Of the times of the last first token.
    last: f64,
    /// The prompt tokens of a round.
    computed: usize,
}

impl Medians {
    fn over(rounds: &[Requests]) -> Self {
        let seconds = |of: fn(&Requests) -> Duration| {
            let mut times: Vec<Duration> = rounds.iter().map(of).collect();
            times.sort();
            median(&times).as_secs_f64()
        };
        Self {
            median: seconds(Requests::median),
            last: seconds(Requests::last),
            computed: rounds.first().map_or(0, |found| found.computed),
        }
    }

    fn json(&self) -> Value {
        json!({
            "median_seconds": self.median,
            "last_seconds": self.last,
            "prompt_tokens_computed": self.computed,
        })
    }
}

/// Prints the times of rounds without and with a prefix cache, and the memory of stories.
///
/// # Errors
/// A closed standard output.
pub fn paged_comparison(
    args: &PagedArgs,
    without: &[Requests],
    with: &[Requests],
    stories: &Requests,
) -> Result<()> {
    let first = with.first().map(|found| &found.hashes);
    let same_bits = without.iter().chain(with).all(|round| Some(&round.hashes) == first);
    let (off, on) = (Medians::over(without), Medians::over(with));

    let mut out = format!(
        "{BOLD}{} requests at once, {} prompt tokens in common{BOLD:#} (medians of {} rounds)\n\n\
         prefix cache   first token: median     of the last   prompt tokens computed\n",
        args.requests, args.shared_tokens, args.rounds
    );
    for (name, Medians { median, last, computed }) in [("without", &off), ("with", &on)] {
        let (median, last) = (1e3 * median, 1e3 * last);
        let _ = writeln!(out, "{name:<12}{median:>19.1} ms{last:>13.1} ms{computed:>25}");
    }
    let _ = writeln!(
        out,
        "{:<12}{:>21.1}x{:>15.1}x{:>24.1}x\n\nthe logits have {} bits with and without\n",
        "ratio",
        off.median / on.median.max(1e-9),
        off.last / on.last.max(1e-9),
        off.computed as f64 / on.computed.max(1) as f64,
        if same_bits { "the same" } else { "other" },
    );
    let tables = &stories.tables;
    let _ = writeln!(
        out,
        "{BOLD}{} stories, when they hold most blocks{BOLD:#} (step {})\n",
        args.stories, tables.step
    );
    let memory = [
        ("contiguous, for as many tokens as allowed", stories.contiguous),
        ("blocks", tables.allocated_bytes()),
        ("the positions that were written", tables.written_bytes()),
    ];
    memory_text(&mut out, &memory);

    let json = json!({
        "requests": args.requests,
        "shared_tokens": args.shared_tokens,
        "without": off.json(),
        "with": on.json(),
        "same_bits": same_bits,
        "stories": {
            "step": tables.step,
            "contiguous": stories.contiguous,
            "allocated": tables.allocated_bytes(),
            "written": tables.written_bytes(),
        },
    });
    print(args.json, &json, &out)
}
