//! The mask of a state.

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

/// Which tokens may come next? Trying every token of the vocabulary byte by byte is slow, and most
/// of them begin alike. So walk the trie instead, and find the tokens whose bytes the automaton can
/// read from `state` on, one after the other. Return a mask, `[vocab_size]`.
///
/// - Walk trie and automaton together. For a node whose bytes can be read, ask `next` once for each
///   of its children. Behind a byte that can't be read, don't ask at all.
/// - Whether the automaton accepts doesn't matter: the text can go on.
///
/// ```text
/// tokens     0 "a"   1 "ab"   2 "abb"   3 "ba"
/// automaton  0 -a-> 1 -b-> 2          (it matches ab)
///
/// state 0    [true, true, false, false]       asked: a, then b after it, then b after both; b
/// state 1    [false, false, false, false]     asked: a, b, then a after it
/// ```
pub fn state_mask(trie: &Node, next: &Next<'_>, state: usize, vocab_size: usize) -> Vec<bool> {
    todo!()
}
