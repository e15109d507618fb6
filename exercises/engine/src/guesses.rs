//! Guesses: one pass checks several tokens of a text at once. Its keys and values lie in blocks, of which the
//! rejected guesses give some back.

use std::mem;

use crate::blocks::{BLOCK_SIZE, Blocks};
use crate::broken::fail;
use crate::model::{Chunk, Network};
use crate::paged::{Paged, Pool};
use crate::parts::{Checked, HeldBlock, HeldBlocks, Lookup, Parts, Table};
use crate::sampler::Sampler;

/// How far prompt lookup searches here.
pub const LOOKUP: Lookup = Lookup { shortest: 2, longest: 8, most: 7 };

/// What came of the guesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub passes: usize,
    pub guessed: usize,
    pub accepted: usize,
}

/// A text that is guessed ahead.
pub struct Guesses<'a> {
    network: &'a Network<'a>,
    parts: &'a Parts,
    lookup: Lookup,
    pool: Pool,
    blocks: Blocks<'a>,
    table: Table,
    /// The text, and what it has gained since it was asked for last. Of all but the last of these tokens,
    /// the keys and values are in the blocks.
    known: Vec<u32>,
    pub counts: Counts,
}

const ACCEPT: &str = "accept_guesses";
const TRUNCATE: &str = "truncate_blocks";

impl<'a> Guesses<'a> {
    /// No text yet, and room for the context.
    pub fn new(network: &'a Network<'a>, parts: &'a Parts, lookup: Lookup) -> Self {
        let count = network.model.config.context.div_ceil(BLOCK_SIZE);
        Self {
            network,
            parts,
            lookup,
            pool: Pool::new(network.model, count),
            blocks: Blocks::new(parts, count),
            table: Table::default(),
            known: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// The token after a text. Most often an earlier pass has found it.
    pub fn next(&mut self, text: &[u32], sampler: &mut Sampler) -> u32 {
        if !(self.known.starts_with(text) && self.known.len() > text.len()) {
            self.pass(text, sampler);
        }
        self.known[text.len()]
    }

    /// How many tokens are known, with those that were not asked for yet.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    // ANCHOR: pass
    /// Reads what is new of a text together with guesses, and keeps those that were right.
    fn pass(&mut self, text: &[u32], sampler: &mut Sampler) {
        if self.known != text {
            self.begin(text);
        }
        let guesses = self.guesses(text);
        let rows = [&text[self.table.length..], &guesses].concat();
        let logits = self.read(&rows, guesses.len() + 1);
        // A token for each guess, and one more. The draws behind a wrong guess are taken back.
        let mut samplers = Vec::new();
        let mut drawn = Vec::new();
        for logits in logits {
            drawn.push(sampler.sample(self.parts, &logits));
            samplers.push(sampler.clone());
        }
        let Checked { gained, kept_rows } = self.checked(&guesses, &drawn);
        *sampler = samplers.swap_remove(gained.len() - 1);
        self.truncate(text.len() - 1 + kept_rows);
        self.known.extend(&gained);
        self.counts.passes += 1;
        self.counts.guessed += guesses.len();
        self.counts.accepted += gained.len() - 1;
    }
    // ANCHOR_END: pass

    /// Another text: all of it is new.
    fn begin(&mut self, text: &[u32]) {
        let Table { blocks, .. } = mem::take(&mut self.table);
        self.blocks.release(&ids(&blocks));
        self.known = text.to_vec();
    }

    fn guesses(&self, text: &[u32]) -> Vec<u32> {
        let Self { lookup, network, .. } = *self;
        let name = "prompt_lookup";
        let mut guesses = self
            .parts
            .ask_exactly(name, "its guesses", |parts| (parts.prompt_lookup)(text, lookup));
        if guesses.len() > lookup.most {
            fail(name, format!("guesses {} tokens, and {} at most", guesses.len(), lookup.most));
        }
        let vocab = network.model.embedding.len();
        if let Some(id) = guesses.iter().find(|id| **id as usize >= vocab) {
            fail(name, format!("guesses the id {id}, which no token has"));
        }
        guesses.truncate(network.model.config.context.saturating_sub(text.len()));
        guesses
    }

    /// The logits after each of the last `wanted` of some tokens, which are read behind those in the blocks.
    fn read(&mut self, rows: &[u32], wanted: usize) -> Vec<Vec<f32>> {
        let start = self.table.length;
        let end = start + rows.len();
        let lacks = end.div_ceil(BLOCK_SIZE).saturating_sub(self.table.blocks.len());
        let Some(blocks) = self.blocks.allocate(lacks) else {
            fail(TRUNCATE, format!("has left too few blocks for {end} positions free"));
        };
        self.table.blocks.extend(blocks.iter().map(|&block| block as usize));
        self.table.length = end;

        let (before, single) = rows.split_at(rows.len() - wanted);
        // Each row as a text that has one new token: so it has logits, and sees those before it.
        let mut chunks = vec![Chunk { tokens: before, start, wants_logits: false }];
        chunks.retain(|chunk| !chunk.tokens.is_empty());
        let first = start + before.len();
        let single = (first..).zip(single.chunks(1));
        chunks.extend(single.map(|(start, tokens)| Chunk { tokens, start, wants_logits: true }));
        let blocks = ids(&self.table.blocks);
        let mut memory = Paged::new(&mut self.pool);
        for chunk in &chunks {
            memory.add(self.parts, &blocks, chunk.start, chunk.tokens.len());
        }
        let logits = self.network.forward(self.parts, &chunks, &mut memory);
        logits.into_iter().flatten().collect()
    }

    fn checked(&self, guesses: &[u32], drawn: &[u32]) -> Checked {
        let checked = self.parts.ask_exactly(ACCEPT, "what the text keeps", |parts| {
            (parts.accept_guesses)(guesses, drawn)
        });
        let (gained, rows) = (checked.gained.len(), drawn.len());
        if gained == 0 || gained > rows {
            fail(ACCEPT, format!("makes {gained} tokens of a pass of {rows} rows"));
        }
        if checked.kept_rows == 0 || checked.kept_rows > gained {
            fail(
                ACCEPT,
                format!("keeps {} rows, where the text gains {gained} tokens", checked.kept_rows),
            );
        }
        checked
    }

    /// Drops the positions of rejected guesses.
    fn truncate(&mut self, length: usize) {
        let before = self.table.clone();
        let held = self.held();
        let Truncated { table, freed, .. } =
            self.parts.ask_exactly(TRUNCATE, "who holds what", |parts| {
                let (mut held, mut table) = (held.clone(), before.clone());
                let freed = (parts.truncate_blocks)(&mut held, &mut table, length);
                Truncated { held, table, freed }
            });
        if table.length != length || table.blocks.len() * BLOCK_SIZE < length {
            let Table { blocks, length: found } = &table;
            fail(
                TRUNCATE,
                format!("leaves {found} positions in {} blocks, instead of {length}", blocks.len()),
            );
        }
        let was_given_up =
            |block: &usize| before.blocks.contains(block) && !table.blocks.contains(block);
        if let Some(block) = freed.iter().find(|block| !was_given_up(block)) {
            fail(TRUNCATE, format!("frees block {block}, which the text has not given up"));
        }
        self.blocks.release(&ids(&freed));
        self.table = table;
    }

    /// The blocks as the exercise sees them.
    fn held(&self) -> HeldBlocks {
        let count = self.network.model.config.context.div_ceil(BLOCK_SIZE);
        let mut blocks = vec![HeldBlock { owners: 0, filled: 0 }; count];
        for (i, &block) in self.table.blocks.iter().enumerate() {
            let filled = (self.table.length - i * BLOCK_SIZE).min(BLOCK_SIZE);
            blocks[block] = HeldBlock { owners: self.blocks.texts(block as u32) as u32, filled };
        }
        HeldBlocks { block_size: BLOCK_SIZE, blocks }
    }
}

/// What a truncation leaves.
#[derive(PartialEq)]
pub struct Truncated {
    pub held: HeldBlocks,
    pub table: Table,
    pub freed: Vec<usize>,
}

fn ids(blocks: &[usize]) -> Vec<u32> {
    blocks.iter().map(|&block| block as u32).collect()
}
