//! Children's stories from a small simulated world, with the information in their choices.
//!
//! A story begins with a cast, a place and a plot. The plot decides what happens, and the
//! teller puts each event into one of many sentences. Every decision goes through a
//! [`choose::Chooser`], so a story comes with a bound on how surprising its text is.

pub mod check;
pub mod choose;
pub mod lexicon;
mod plots;
pub mod talk;
mod tell;
#[cfg(test)]
mod tests;
mod tidy;
mod world;

use std::collections::HashSet;

pub use check::{Check, check};
use choose::Chooser;
use plots::PLOTS;

/// The fewest words of a story.
pub const MIN_WORDS: usize = 60;
/// The most words of a story.
pub const MAX_WORDS: usize = 300;

/// The seed of the stories that the bundled model was trained on.
pub const SEED: u64 = 1;
/// On how many of them: the first.
pub const TRAINED_STORIES: usize = 120_000;
/// How many of those that follow measure the loss during the training.
pub const HELD_OUT: usize = 64;

/// A story and the information in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    /// Paragraphs of plain ASCII text, with a blank line between them.
    pub text: String,
    /// The sum of `-log2(probability)` over the choices that made this text.
    ///
    /// It is an upper bound of `-log2 P(text)`, because other choices may tell the same text.
    /// A text that is too short or long, or that fails [`check()`], is drawn again. That
    /// happens to fewer than 2 in 100 stories, and it only makes each remaining text more
    /// likely, so the bound holds.
    pub bits: f64,
}

/// The story that belongs to `seed`.
pub fn story(seed: u64) -> Story {
    (0..)
        .map(|attempt| draw(mix(seed, attempt)).1)
        .find(|story| accepted(&story.text))
        .expect("some attempt is accepted")
}

/// Distinct stories without end.
pub fn stories(seed: u64) -> impl Iterator<Item = Story> {
    let mut seen = HashSet::new();
    (0..)
        .map(move |i| story(mix(seed, i)))
        .filter(move |story| seen.insert(hash(&story.text)))
}

/// Tells one story without looking at the result. Also gives the name of the plot family.
fn draw(seed: u64) -> (&'static str, Story) {
    let mut ch = Chooser::new(seed);
    let weights: Vec<u32> = PLOTS.iter().map(|plot| plot.weight).collect();
    let plot = &PLOTS[ch.index(&weights)];
    let (text, bits) = plot.tell(ch).finish();
    (plot.name, Story { text, bits })
}

fn accepted(text: &str) -> bool {
    let words = text.split_whitespace().count();
    (MIN_WORDS..=MAX_WORDS).contains(&words) && check(text).problems.is_empty()
}

/// Mixes two numbers into one (the finalizer of splitmix64).
fn mix(a: u64, b: u64) -> u64 {
    let mut z =
        a.rotate_left(32).wrapping_add(b.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A 64-bit FNV-1a hash.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}
