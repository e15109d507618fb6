//! The output of `09_paged_kv`: who holds which block, and what sharing has spared.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slowburn::engine::{Decision, Entry, Scheduler, SequenceId};
use slowburn::generate::{Batch, Event, Generation};
use slowburn::kv::{BlockId, Memory, PrefixStats};
use slowburn::pretrained::Pretrained;
use slowburn_flags::{bytes, note};

use slowburn_examples::cli::{BOLD, DIM, PrefillTime, Result, print, saved_time_text, why};

use super::args::PagedArgs;

/// The most decisions that are printed.
const MOST_DECISIONS: usize = 16;

/// The blocks of all sequences after a step.
#[derive(Debug, Clone, Default)]
pub struct BlockTables {
    pub step: usize,
    pub sequences: Vec<BlockRow>,
    pub block_size: usize,
    pub block_bytes: usize,
}

/// The blocks of one sequence.
#[derive(Debug, Clone)]
pub struct BlockRow {
    /// The number of positions that were written.
    pub length: usize,
    /// The number of positions that there may be.
    pub max_length: usize,
    /// Each block, and how many sequences hold it.
    pub blocks: Vec<(BlockId, usize)>,
}

impl BlockTables {
    /// Looks at the blocks of these sequences.
    pub fn of<M: Memory>(
        scheduler: &Scheduler<M>,
        ids: &[SequenceId],
        step: usize,
        block_bytes: usize,
    ) -> Self {
        let blocks = scheduler.blocks();
        let sequence = |&id: &SequenceId| {
            let table = scheduler.table(id)?;
            let owners = table.blocks().iter().map(|block| (block.id(), blocks.ref_count(block)));
            Some(BlockRow {
                length: table.length(),
                max_length: scheduler.max_length(id),
                blocks: owners.collect(),
            })
        };
        Self {
            step,
            sequences: ids.iter().filter_map(sequence).collect(),
            block_size: blocks.block_size(),
            block_bytes,
        }
    }

    /// Each block once, with the number of its positions that were written.
    fn written(&self) -> BTreeMap<BlockId, usize> {
        let mut written = BTreeMap::new();
        for BlockRow { length, blocks, .. } in &self.sequences {
            for (index, &(block, _)) in blocks.iter().enumerate() {
                let here = length.saturating_sub(index * self.block_size).min(self.block_size);
                let most = written.entry(block).or_insert(0);
                *most = here.max(*most);
            }
        }
        written
    }

    fn position_bytes(&self) -> usize {
        self.block_bytes / self.block_size.max(1)
    }

    /// The bytes of all positions up to the limit of each sequence.
    pub fn contiguous_bytes(&self) -> usize {
        self.sequences.iter().map(|row| row.max_length * self.position_bytes()).sum()
    }

    /// The bytes of the blocks, if no two sequences shared any.
    fn unshared_bytes(&self) -> usize {
        self.sequences.iter().map(|row| row.blocks.len() * self.block_bytes).sum()
    }

    /// The bytes of the blocks, each counted once.
    pub fn allocated_bytes(&self) -> usize {
        self.written().len() * self.block_bytes
    }

    /// The bytes of the positions that were written, each counted once.
    pub fn written_bytes(&self) -> usize {
        self.written().values().sum::<usize>() * self.position_bytes()
    }

    fn text(&self, out: &mut String) {
        let size = self.block_size;
        let columns = self.sequences.iter().map(|row| row.blocks.len()).max().unwrap_or(0);
        let _ = write!(out, "{:<10}{:>6}", "sequence", "length");
        for column in 0..columns {
            let positions = format!("{}..{}", column * size, (column + 1) * size - 1);
            let _ = write!(out, "{positions:>10}");
        }
        let _ = writeln!(out);
        for (index, row) in self.sequences.iter().enumerate() {
            let _ = write!(out, "{:<10}{:>6}", index + 1, row.length);
            for (block, owners) in &row.blocks {
                let cell = match owners {
                    1 => format!("{block}"),
                    owners => format!("{block} (x{owners})"),
                };
                let _ = write!(out, "{cell:>10}");
            }
            let _ = writeln!(out);
        }
    }
}

/// Prints the memory of several layouts, beside the first.
pub(super) fn memory_text(out: &mut String, rows: &[(&str, usize)]) {
    let whole = rows.first().map_or(1, |&(_, bytes)| bytes.max(1));
    for &(name, n) in rows {
        let share = 100.0 * n as f64 / whole as f64;
        let _ = writeln!(out, "{name:<46}{:>10}{share:>7.0}%", bytes(n));
    }
}

/// Looks at a batch after each step, and prints what it has seen.
pub struct PagedReport<'a> {
    args: &'a PagedArgs,
    pretrained: &'a Pretrained,
    prompts: &'a [Vec<u32>],
    ids: Vec<SequenceId>,
    steps: usize,
    /// When the last of them ended.
    last: Instant,
    prefill_time: PrefillTime,
    tables: BlockTables,
    prefix: PrefixStats,
    decisions: Vec<(usize, Decision)>,
    record: Vec<Entry>,
    generations: BTreeMap<SequenceId, Generation>,
}

impl<'a> PagedReport<'a> {
    /// A report on the sequences of a batch that keeps its record. They begin with these prompts.
    pub fn start(
        args: &'a PagedArgs,
        pretrained: &'a Pretrained,
        prompts: &'a [Vec<u32>],
        ids: Vec<SequenceId>,
    ) -> Self {
        Self {
            args,
            pretrained,
            prompts,
            ids,
            steps: 0,
            last: Instant::now(),
            prefill_time: PrefillTime::default(),
            tables: BlockTables::default(),
            prefix: PrefixStats::default(),
            decisions: Vec::new(),
            record: Vec::new(),
            generations: BTreeMap::new(),
        }
    }

    /// Looks at what a step did. The block tables of the last step before a sequence left are kept.
    ///
    /// # Errors
    /// A sequence that failed.
    pub fn step(&mut self, batch: &mut Batch<'_>, events: Vec<(SequenceId, Event)>) -> Result<()> {
        self.steps += 1;
        let time = self.last.elapsed();
        let record = batch.take_record();
        for entry in &record {
            if let Entry::Step { decisions } = entry {
                self.prefill_time.add(decisions, time);
                self.decisions.extend(decisions.iter().map(|&decision| (self.steps, decision)));
            }
        }
        self.record.extend(record);
        for (id, event) in events {
            match event {
                Event::Token(_) => {}
                Event::Finished(generation) => {
                    self.generations.insert(id, generation);
                }
                Event::Failed(error) => return Err(error.into()),
            }
        }
        self.prefix = batch.scheduler().blocks().prefix_stats();
        if self.generations.is_empty() {
            let block_bytes = self.pretrained.model.kv_pool().block_bytes();
            self.tables = BlockTables::of(&batch.scheduler(), &self.ids, self.steps, block_bytes);
        }
        self.last = Instant::now();
        Ok(())
    }

    /// Prints the report, or one JSON object, and writes the record.
    ///
    /// # Errors
    /// Ids that cannot be decoded; a closed standard output; a file that cannot be written.
    pub fn finish(self) -> Result<()> {
        self.args.record.write(&self.record)?;
        print(self.args.json, &self.json()?, &self.text()?)?;
        self.args.model.report_blocks(self.pretrained.model.kv_pool());
        if self.args.model.block_report {
            note(&self.saved_time().map_or_else(String::new, saved_time_text));
        }
        Ok(())
    }

    fn generations(&self) -> impl Iterator<Item = (&Vec<u32>, &Generation)> {
        self.prompts.iter().zip(self.ids.iter().filter_map(|id| self.generations.get(id)))
    }

    fn sum(&self, of: impl Fn(&Vec<u32>, &Generation) -> usize) -> usize {
        self.generations().map(|(prompt, found)| of(prompt, found)).sum()
    }

    fn saved_bytes(&self) -> usize {
        self.prefix.saved_bytes(self.pretrained.model.kv_pool().block_bytes())
    }

    /// The time that the prompt tokens that were found would have taken.
    fn saved_time(&self) -> Option<Duration> {
        self.prefill_time.of(self.sum(|_, found| found.cached_tokens))
    }

    fn memory(&self) -> [(&'static str, usize); 4] {
        [
            ("contiguous, for as many tokens as allowed", self.tables.contiguous_bytes()),
            ("in blocks, if none were shared", self.tables.unshared_bytes()),
            ("in blocks, as they are", self.tables.allocated_bytes()),
            ("the positions that were written", self.tables.written_bytes()),
        ]
    }

    fn text(&self) -> Result<String> {
        let mut out = String::new();
        let tokenizer = &self.pretrained.tokenizer;
        for (index, (prompt, found)) in self.generations().enumerate() {
            let end = tokenizer.decode(&prompt[prompt.len().saturating_sub(8)..])?;
            let text = tokenizer.decode(&found.ids)?;
            let why = why(&found.finish_reason);
            let _ = writeln!(
                out,
                "{BOLD}{}{BOLD:#}  {DIM}...{end}{DIM:#}{text} {DIM}({why}){DIM:#}\n",
                index + 1
            );
        }

        let _ = writeln!(out, "{BOLD}Decisions about prompts{BOLD:#}\n");
        let is_decode = |decision: &Decision| matches!(decision, Decision::Decode { .. });
        let lines: Vec<_> =
            self.decisions.iter().filter(|(_, decision)| !is_decode(decision)).collect();
        for (step, decision) in lines.iter().take(MOST_DECISIONS) {
            let _ = writeln!(out, "step {step:<4} sequence {}", counted_from_one(decision));
        }
        if lines.len() > MOST_DECISIONS {
            let _ = writeln!(out, "... and {} more", lines.len() - MOST_DECISIONS);
        }

        let step = self.tables.step;
        let _ = writeln!(out, "\n{BOLD}Blocks after step {step}{BOLD:#} (x3: three owners)\n");
        self.tables.text(&mut out);

        let _ = writeln!(out, "\n{BOLD}Memory after step {step}{BOLD:#}\n");
        memory_text(&mut out, &self.memory());

        let (prompt, cached) =
            (self.sum(|prompt, _| prompt.len()), self.sum(|_, found| found.cached_tokens));
        let PrefixStats { lookups, hits, evictions } = self.prefix;
        let _ = writeln!(
            out,
            "\n{BOLD}All {} steps{BOLD:#}\n\n\
             prompt tokens: {prompt}, of which {cached} were found and not computed\n\
             prefix cache: {lookups} blocks looked up, {hits} found, {evictions} evicted\n\
             saved: {} of keys and values\n\
             preemptions: {}",
            self.steps,
            bytes(self.saved_bytes()),
            self.sum(|_, found| found.preemptions),
        );
        Ok(out)
    }

    fn json(&self) -> Result<Value> {
        let mut sequences = Vec::new();
        for (index, (prompt, found)) in self.generations().enumerate() {
            let row = self.tables.sequences.get(index);
            let block = |(block, owners): &(BlockId, usize)| json!({ "block": block.to_string(), "owners": owners });
            let blocks = row.map(|row| row.blocks.iter().map(block).collect::<Vec<_>>());
            sequences.push(json!({
                "prompt_ids": prompt,
                "ids": found.ids,
                "text": self.pretrained.tokenizer.decode(&found.ids)?,
                "finish_reason": found.finish_reason,
                "cached_tokens": found.cached_tokens,
                "preemptions": found.preemptions,
                "logits_hash": found.logits_hash,
                "length": row.map(|row| row.length),
                "max_length": row.map(|row| row.max_length),
                "blocks": blocks.unwrap_or_default(),
            }));
        }
        let decision =
            |(step, decision): &(usize, Decision)| json!({ "step": step, "decision": decision });
        let PrefixStats { lookups, hits, evictions } = self.prefix;
        Ok(json!({
            "block_size": self.tables.block_size,
            "block_bytes": self.tables.block_bytes,
            "steps": self.steps,
            "tables_after_step": self.tables.step,
            "sequences": sequences,
            "prefix_cache": {
                "lookups": lookups,
                "hits": hits,
                "evictions": evictions,
                "saved_bytes": self.saved_bytes(),
                "saved_seconds": self.saved_time().map(|time| time.as_secs_f64()),
            },
            "bytes": {
                "contiguous": self.tables.contiguous_bytes(),
                "unshared": self.tables.unshared_bytes(),
                "allocated": self.tables.allocated_bytes(),
                "written": self.tables.written_bytes(),
            },
            "decisions": self.decisions.iter().map(decision).collect::<Vec<_>>(),
        }))
    }
}

/// A decision in words, with sequences counted from 1 as everywhere in the output.
fn counted_from_one(decision: &Decision) -> String {
    let mut decision = *decision;
    let (Decision::Admitted { id, .. }
    | Decision::Prefill { id, .. }
    | Decision::Decode { id }
    | Decision::Draft { id, .. }
    | Decision::OverBudget { id }
    | Decision::Deferred { id }
    | Decision::Stalled { id }
    | Decision::Choosing { id }
    | Decision::NoSlot { id }
    | Decision::Preempted { id, .. }) = &mut decision;
    id.0 += 1;
    decision.to_string()
}
