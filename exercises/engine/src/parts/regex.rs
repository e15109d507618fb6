//! What the parts for regular expressions take and return. The types have the same fields as in the exercises.

use std::collections::BTreeMap;

/// The states of an automaton: for each state and each class of bytes, the state that follows.
pub type States = Vec<Vec<Option<usize>>>;

/// The state after one more byte.
pub type Follows<'a> = dyn Fn(usize, u8) -> Option<usize> + 'a;

/// A node of the trie of a vocabulary.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrieNode {
    pub children: BTreeMap<u8, TrieNode>,
    pub tokens: Vec<u32>,
}

/// What may come next.
#[derive(Debug, Clone, PartialEq)]
pub enum NextTokens {
    Choose(Vec<u32>),
    End,
    Stuck,
}
