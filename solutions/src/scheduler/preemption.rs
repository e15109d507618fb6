//! Preemption: which sequence loses its blocks when none is left.
//!
//! Why: the list is in the order of arrival, so its last entry is the youngest, and the loop
//! doesn't have to compare ages: if the last one is the one in need, no younger one runs. The
//! oldest sequence gives its blocks to none and may take everybody else's. So it reaches its end,
//! whatever happens, its blocks become free, and another one is the oldest. Paused sequences come
//! first, because nobody reads their blocks now.
//!
//! What it costs: computing the tokens of the preempted sequence once more. That is a prefill, many
//! tokens in one pass over the weights, and cheaper than the decode steps that it took. The tokens
//! themselves are kept: its reader has seen them, and a generator that drew them will not draw them
//! again.
//!
//! A common wrong turn: preempting some other sequence at any price. Two sequences that need a
//! block each then preempt each other in turn, and both compute forever and get nowhere. Another:
//! the end of the queue. A sequence that was preempted once waits behind everything that came after
//! it, and as long as new ones come, it is preempted again and again.

/// A sequence, wherever it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    /// When it arrived: the smaller, the older.
    pub arrival: usize,
    /// Its prompt, and what has been generated.
    pub tokens: Vec<u32>,
    /// How many of `tokens` have their keys and values in `blocks`.
    pub computed: usize,
    pub blocks: Vec<u32>,
}

/// The sequences of a server. Each list is in the order of arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheduler {
    pub running: Vec<Sequence>,
    /// Sequences whose reader has stopped reading.
    pub paused: Vec<Sequence>,
    /// They hold no blocks. The first of them is admitted next.
    pub waiting: Vec<Sequence>,
    /// The free blocks, in any order.
    pub free: Vec<u32>,
}

impl Scheduler {
    /// Frees `count` blocks for `name`. False if the blocks of the paused and of the younger
    /// sequences are not enough.
    pub fn make_room(&mut self, name: char, count: usize) -> bool {
        while self.free.len() < count {
            if let Some(paused) = self.paused.iter_mut().rfind(|paused| !paused.blocks.is_empty()) {
                give_up(paused, &mut self.free);
                continue;
            }
            let Some(mut youngest) = self.running.pop_if(|youngest| youngest.name != name) else {
                return false;
            };
            give_up(&mut youngest, &mut self.free);
            let place = self.waiting.partition_point(|other| other.arrival < youngest.arrival);
            self.waiting.insert(place, youngest);
        }
        true
    }
}

fn give_up(sequence: &mut Sequence, free: &mut Vec<u32>) {
    free.append(&mut sequence.blocks);
    sequence.computed = 0;
}
