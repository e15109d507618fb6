//! The trie of a vocabulary.

use std::collections::BTreeMap;

/// A node of the trie. It stands for the bytes on the way from the root to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// The nodes with one byte more, by this byte.
    pub children: BTreeMap<u8, Node>,
    /// The ids of the tokens with exactly these bytes, the smallest first.
    pub tokens: Vec<u32>,
}

/// A grammar reads bytes, and many tokens begin with the same ones. In a trie, a shared beginning
/// is read only once. Build the trie of a vocabulary, and return its root, which has no bytes.
///
/// - The id of a token is its index in `vocabulary`.
/// - For each token there is a way from the root, byte by byte. Tokens that begin with the same
///   bytes share the nodes of these bytes. There are no other nodes.
/// - A token is listed at the node where its bytes end, and at no other.
/// - Several tokens may have the same bytes. One that has none, such as a special token, is
///   nowhere.
///
/// ```text
/// vocabulary  0 "a"   1 "cat"   2 "ca"   3 "b"   4 ""
///
/// root
/// ├── a  [0]
/// ├── b  [3]
/// └── c
///     └── a  [2]
///         └── t  [1]
/// ```
pub fn token_trie(vocabulary: &[Vec<u8>]) -> Node {
    todo!()
}
