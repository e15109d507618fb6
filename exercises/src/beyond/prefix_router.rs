//! A router that knows which prefixes a replica has.

/// What the router knows of a replica.
#[derive(Debug, Clone)]
pub struct Replica {
    /// How many requests it has open.
    pub open: usize,
    /// The prompts that were sent to it, as token ids: its prefix cache has them.
    pub sent: Vec<Vec<u32>>,
}

/// How the router weighs a hit against a queue.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The tokens of a block. A prefix cache has whole blocks only.
    pub block: usize,
    /// How many more open requests a replica may have than the least loaded one. `usize::MAX` is no
    /// limit.
    pub imbalance: usize,
}

/// A replica that has the prompt's prefix in its cache answers sooner, unless its queue is long.
/// Which replica should a request with this `prompt` go to? There is at least one replica, `block`
/// is at least 1, and `prompt` is not empty.
///
/// - The **hit** on a replica is the longest prefix that `prompt` has in common with one of the
///   prompts that were sent to it, in whole blocks.
/// - Replicas with more than `imbalance` open requests above the least loaded one are left out.
/// - Of the others, if the longest hit is at least half of the prompt, the request goes to the
///   replica that has it. If several have it, to the one with the fewest open requests.
/// - Otherwise the prefix is not worth a queue: the request goes to the replica with the fewest
///   open requests.
/// - If that leaves several, to the one with the smallest index.
///
/// ```text
/// block 2, imbalance 3, prompt [1, 2, 3, 4, 5]
///
/// 0: open 0, sent [9, 9]                   hit 0
/// 1: open 2, sent [1, 2, 3, 9]             hit 2: not half of 5
/// 2: open 3, sent [1, 2, 3, 4, 9], [1]     hit 4
/// → 2; with 4 open requests there, 0
/// ```
pub fn prefix_router(replicas: &[Replica], prompt: &[u32], settings: Settings) -> usize {
    todo!()
}
