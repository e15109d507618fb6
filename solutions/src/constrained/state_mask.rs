//! The mask of a state: a node of the trie and a state of the automaton go forward together.
//!
//! Why: a token is allowed if the automaton can read its bytes. Tokens that begin alike share their
//! way until they differ, so you walk it once for all of them. And where the automaton stops, it
//! stops for all of them.
//!
//! What it costs: a step of the automaton for each node that can be reached, and one for each byte
//! that leads nowhere. If everything is allowed, that is the whole trie, which is why a mask is
//! cached.
//!
//! A common wrong turn: asking only about the first byte, and taking all tokens behind it.

use std::collections::BTreeMap;

/// A node of the trie of a vocabulary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// The nodes with one byte more, by this byte.
    pub children: BTreeMap<u8, Node>,
    /// The ids of the tokens with exactly the bytes of this node.
    pub tokens: Vec<u32>,
}

/// The state of an automaton after one more byte; `None` if it cannot read that byte.
pub type Next<'a> = dyn Fn(usize, u8) -> Option<usize> + 'a;

/// Finds which tokens may come next: those whose bytes the automaton can read from `state` on, one
/// after the other. Returns a mask, `[vocab_size]`.
pub fn state_mask(trie: &Node, next: &Next<'_>, state: usize, vocab_size: usize) -> Vec<bool> {
    let mut mask = vec![false; vocab_size];
    let mut open = vec![(trie, state)];
    while let Some((node, state)) = open.pop() {
        for &token in &node.tokens {
            mask[token as usize] = true;
        }
        for (&byte, child) in &node.children {
            if let Some(after) = next(state, byte) {
                open.push((child, after));
            }
        }
    }
    mask
}
