//! Several texts at once: a step computes a part of each, and draws a token of those that are read.

mod plan;

use std::{iter, mem};

use crate::blocks::{BLOCK_SIZE, Blocks};
use crate::broken::fail;
use crate::model::{Chunk, Network};
use crate::paged::{Paged, Pool};
use crate::parts::{Parts, Work};
use crate::sequence::{Ends, Reader, Sequence, Submission};
use crate::vocabulary::Vocabulary;

/// What a batch may use.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Tokens of a step.
    pub token_budget: usize,
    /// Texts that run at the same time.
    pub max_running: usize,
    pub blocks: usize,
}

impl Room {
    /// How many tokens a text may have: it can have the blocks of all others.
    pub fn most(&self) -> usize {
        self.blocks * BLOCK_SIZE
    }
}

/// What happened in a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub steps: usize,
    /// Tokens that passes have read.
    pub computed: usize,
    /// Tokens whose keys and values were in the prefix cache.
    pub found: usize,
    /// How often a text lost its blocks.
    pub preempted: usize,
    /// How often a text that runs had to wait for a block.
    pub deferred: usize,
    /// How often a reader was behind.
    pub paused: usize,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Computed,
    /// All texts wait for their readers.
    Waits,
    /// There is no text.
    Empty,
}

/// Texts that share the passes of one model. Each list is in the order of arrival.
pub struct Batch<'a> {
    network: &'a Network<'a>,
    vocabulary: &'a Vocabulary,
    parts: &'a Parts,
    room: Room,
    pool: Pool,
    blocks: Blocks<'a>,
    running: Vec<Sequence>,
    /// Those whose reader is behind.
    paused: Vec<Sequence>,
    waiting: Vec<Sequence>,
    /// Those that have ended, and whose reader is behind.
    ended: Vec<Sequence>,
    arrivals: usize,
    pub counts: Counts,
}

const STEP: &str = "one_step";
const PREEMPTION: &str = "preemption";

impl<'a> Batch<'a> {
    pub fn new(
        network: &'a Network<'a>,
        vocabulary: &'a Vocabulary,
        parts: &'a Parts,
        room: Room,
    ) -> Self {
        Self {
            network,
            vocabulary,
            parts,
            room,
            pool: Pool::new(network.model, room.blocks),
            blocks: Blocks::new(parts, room.blocks),
            running: Vec::new(),
            paused: Vec::new(),
            waiting: Vec::new(),
            ended: Vec::new(),
            arrivals: 0,
            counts: Counts::default(),
        }
    }

    /// A text joins the queue. Its prompt and its tokens have to fit into the blocks: the code that
    /// takes requests makes sure of that.
    pub fn submit(&mut self, submission: Submission) {
        let taken: Vec<char> = self.all().map(|text| text.name).collect();
        let name = ('A'..).find(|name| !taken.contains(name)).unwrap_or('A');
        self.waiting.push(Sequence::new(self.parts, name, self.arrivals, submission));
        self.arrivals += 1;
    }

    fn all(&self) -> impl Iterator<Item = &Sequence> {
        [&self.running, &self.paused, &self.waiting, &self.ended].into_iter().flatten()
    }

    // ANCHOR: step
    /// Plans a step, takes blocks for it, computes it, and draws a token of each text that has its
    /// logits.
    pub fn step(&mut self) -> Step {
        self.ask_readers();
        if self.all().next().is_none() {
            return Step::Empty;
        }
        let found = self.found();
        let plan = self.plan(&found);
        let planned = plan.len();
        let work = self.take_blocks(plan, found);
        if work.is_empty() {
            return self.waits(planned);
        }
        let logits = self.compute(&work);
        self.counts.steps += 1;
        for (work, logits) in iter::zip(work, logits) {
            self.go_on(&work, logits);
        }
        Step::Computed
    }
    // ANCHOR_END: step

    fn compute(&mut self, work: &[Work]) -> Vec<Option<Vec<f32>>> {
        let mut memory = Paged::new(&mut self.pool);
        let mut chunks = Vec::new();
        for work in work {
            let Some(place) = position(&self.running, work.name) else {
                continue;
            };
            let text = &self.running[place];
            let end = text.computed + work.tokens;
            memory.add(self.parts, &text.blocks, text.computed, work.tokens);
            chunks.push(Chunk {
                tokens: &text.tokens[text.computed..end],
                start: text.computed,
                wants_logits: work.wants_logits && end == text.tokens.len(),
            });
        }
        self.counts.computed += chunks.iter().map(|chunk| chunk.tokens.len()).sum::<usize>();
        self.network.forward(self.parts, &chunks, &mut memory)
    }

    /// A part of a step was computed: its blocks may be found by others, and its next token is drawn.
    fn go_on(&mut self, work: &Work, logits: Option<Vec<f32>>) {
        let Some(place) = position(&self.running, work.name) else {
            return;
        };
        let text = &mut self.running[place];
        text.computed += work.tokens;
        self.blocks.remember(&text.tokens[..text.computed], &text.blocks);
        let Some(logits) = logits else {
            if text.computed == text.tokens.len() {
                fail(STEP, format!("wants no logits of the last token of {:?}", work.name));
            }
            return;
        };
        let config = &self.network.model.config;
        let ends = Ends { eos: config.eos, context: config.context };
        match (text.draw(self.parts, self.vocabulary, &logits, ends), text.end) {
            (Reader::IsGone, _) => {
                let mut text = self.running.remove(place);
                self.free(&mut text);
            }
            (_, Some(_)) => {
                let mut text = self.running.remove(place);
                text.finish_text();
                self.free(&mut text);
                self.ended.push(text);
            }
            (Reader::IsBehind, None) => {
                self.counts.paused += 1;
                let text = self.running.remove(place);
                insert(&mut self.paused, text);
            }
            (Reader::HasRead, None) => {}
        }
    }

    /// Its blocks are no longer its own.
    fn free(&mut self, text: &mut Sequence) {
        let computed = text.computed;
        let blocks = text.give_up();
        self.blocks.give_up(&text.tokens[..computed], &blocks);
    }

    /// Those whose readers have caught up go on, and those that have ended leave.
    fn ask_readers(&mut self) {
        for mut text in mem::take(&mut self.ended) {
            match text.hand_over() {
                Reader::HasRead => text.close(self.parts, self.vocabulary),
                Reader::IsBehind => self.ended.push(text),
                Reader::IsGone => {}
            }
        }
        for mut text in mem::take(&mut self.paused) {
            let has_place = self.running.len() < self.room.max_running;
            match text.hand_over() {
                Reader::HasRead if text.blocks.is_empty() => insert(&mut self.waiting, text),
                Reader::HasRead if has_place => insert(&mut self.running, text),
                Reader::HasRead | Reader::IsBehind => self.paused.push(text),
                Reader::IsGone => self.free(&mut text),
            }
        }
    }

    /// A step without work: all wait for their readers, or a part keeps them from going on.
    fn waits(&self, planned: usize) -> Step {
        let (runs, waits) = (self.running.len(), self.waiting.len());
        if planned > 0 && runs > 0 {
            // The oldest may take the blocks of all others.
            fail(PREEMPTION, format!("makes no room, and none of {runs} texts goes on"));
        }
        if runs > 0 || waits > 0 && self.paused.is_empty() {
            fail(STEP, format!("plans nothing that goes on: {runs} texts run, and {waits} wait"));
        }
        Step::Waits
    }
}

fn position(texts: &[Sequence], name: char) -> Option<usize> {
    texts.iter().position(|text| text.name == name)
}

/// At its place in the order of arrival.
fn insert(texts: &mut Vec<Sequence>, text: Sequence) {
    let place = texts.partition_point(|other| other.arrival < text.arrival);
    texts.insert(place, text);
}
