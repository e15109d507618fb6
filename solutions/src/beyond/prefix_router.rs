//! A router that knows which prefixes a replica has.
//!
//! Why: a hit saves a replica the prefill of the prefix, but a queue costs more than that. So the
//! hit decides as long as the loads are not too far apart, and otherwise the load decides. A short
//! hit is no reason at all: every prompt of a chat begins with the same few tokens, and would
//! follow the first to one replica.
//!
//! What it costs: memory, and a guess. The router keeps what it sent, not what a replica still has:
//! that may have been evicted. Real routers keep a radix tree, in which common prefixes are stored
//! once, and forget the oldest.
//!
//! A common wrong turn: looking for the longest hit among all replicas, and for a free one if that
//! replica is too busy. The second-best hit may be on a replica that is not.

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

/// The replica that a request with this `prompt` goes to.
pub fn prefix_router(replicas: &[Replica], prompt: &[u32], settings: Settings) -> usize {
    let least = replicas.iter().map(|replica| replica.open).min().unwrap_or(0);
    let candidates: Vec<usize> = (0..replicas.len())
        .filter(|&index| replicas[index].open - least <= settings.imbalance)
        .collect();
    let hits: Vec<usize> =
        replicas.iter().map(|replica| hit(replica, prompt, settings.block)).collect();
    let longest = candidates.iter().map(|&index| hits[index]).max().unwrap_or(0);
    let is_worth_it = 2 * longest >= prompt.len();
    candidates
        .into_iter()
        .filter(|&index| !is_worth_it || hits[index] == longest)
        .min_by_key(|&index| replicas[index].open)
        .unwrap_or(0)
}

/// The tokens of the prompt that the replica has, in whole blocks.
fn hit(replica: &Replica, prompt: &[u32], block: usize) -> usize {
    let common =
        |sent: &Vec<u32>| sent.iter().zip(prompt).take_while(|(sent, own)| sent == own).count();
    let longest = replica.sent.iter().map(common).max().unwrap_or(0);
    longest / block * block
}
