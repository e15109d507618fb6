//! Preemption: which sequence loses its blocks when none is left.

/// A sequence, wherever it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    /// When it arrived: the smaller, the older. No two are equal.
    pub arrival: usize,
    /// Its prompt, and what has been generated.
    pub tokens: Vec<u32>,
    /// How many of `tokens` have their keys and values in `blocks`.
    pub computed: usize,
    pub blocks: Vec<u32>,
}

/// The sequences of a server. Each list is in the order of arrival. No block is shared.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheduler {
    /// Each of them holds at least one block.
    pub running: Vec<Sequence>,
    /// Sequences whose reader has stopped reading: they take no part in the steps until it reads
    /// again. They may hold blocks, even before any token is computed: blocks are taken for a whole
    /// prompt.
    pub paused: Vec<Sequence>,
    /// They hold no blocks. The first of them is admitted next.
    pub waiting: Vec<Sequence>,
    /// The free blocks, in any order.
    pub free: Vec<u32>,
}

impl Scheduler {
    /// Every sequence grows, and the blocks run out in the middle of a step. Who has to give? Free
    /// `count` blocks, because `name`, which runs, needs them. As long as there are fewer, one
    /// sequence after the other gives up all its blocks, and no more sequences than it takes:
    ///
    /// 1. First the paused ones, the youngest first, whether older than `name` or not: they
    ///    wouldn't go on now anyway. Such a sequence stays paused. One that holds no block has none
    ///    to give.
    /// 2. Then the running ones that are younger than `name`, the youngest first. Such a sequence
    ///    waits again, at its place in the order of arrival. No older sequence loses anything.
    ///
    /// A sequence that loses its blocks keeps all its tokens, but none of them count as computed
    /// any more. They will be computed again, without being generated again.
    ///
    /// Return whether `count` blocks are free now. If not, `name` goes on running and keeps its
    /// blocks, and is deferred in this step: once an older sequence ends, there are more.
    ///
    /// ```text
    /// make_room('B', 2)
    ///
    ///           before                          after
    /// running   A 0: 10 11   B 1: 12   D 3: 13  A 0: 10 11   B 1: 12
    /// paused    C 2: 14                         C 2: no blocks
    /// waiting   E 4                             D 3   E 4
    /// free      none                            13 14          true
    ///
    /// then make_room('B', 3)                    nothing changes, false: only A is left, and older
    /// ```
    pub fn make_room(&mut self, name: char, count: usize) -> bool {
        todo!()
    }
}
