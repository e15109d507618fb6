//! The trie of a vocabulary: tokens that begin alike share the way to where they differ.
//!
//! Why: a byte that can't come next rules out every token that begins with it, and here all of
//! these are behind one node. The ids come in ascending order, so the list of a node is sorted
//! without sorting.
//!
//! What it costs: a node for each different beginning of a token. A map in each node is easy to
//! read and slow to walk: the crate lays the nodes out in one list, in depth-first order, and each
//! stores where its subtree ends.
//!
//! A common wrong turn: tokens only at the leaves. The bytes of many tokens begin other tokens too.

use std::collections::BTreeMap;

/// A node of the trie. It stands for the bytes on the way from the root to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// The nodes with one byte more, by this byte.
    pub children: BTreeMap<u8, Node>,
    /// The ids of the tokens with exactly these bytes, the smallest first.
    pub tokens: Vec<u32>,
}

/// Builds the trie of a vocabulary, and returns its root, which has no bytes.
pub fn token_trie(vocabulary: &[Vec<u8>]) -> Node {
    let mut root = Node::default();
    for (id, bytes) in (0..).zip(vocabulary) {
        if bytes.is_empty() {
            continue;
        }
        let mut node = &mut root;
        for &byte in bytes {
            node = node.children.entry(byte).or_default();
        }
        node.tokens.push(id);
    }
    root
}
