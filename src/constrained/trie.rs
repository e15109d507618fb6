//! The tokens of a vocabulary as a trie of their bytes.

use super::{Automaton, State, TokenMask};

/// The tokens of a vocabulary, by their bytes: tokens with the same first bytes share their nodes.
#[derive(Debug, Clone)]
pub struct TokenTrie {
    /// In depth-first order: behind a node come all that begin with its bytes. The first is the
    /// root, the empty text.
    nodes: Vec<Node>,
    /// The tokens of all nodes, in the order of the nodes.
    tokens: Vec<u32>,
    /// The number of bytes of the longest token.
    deepest: usize,
}

// ANCHOR: node
/// The bytes on the way from the root to here.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// The last of these bytes.
    byte: u8,
    /// Their number.
    depth: u32,
    /// The index of the first node behind this one that does not begin with them.
    end: u32,
    /// Where the tokens with exactly these bytes begin, and how many they are.
    tokens: (u32, u32),
}
// ANCHOR_END: node

impl TokenTrie {
    /// A trie of tokens, given by their ids and bytes. A token without bytes is left out.
    pub fn new<'a>(tokens: impl IntoIterator<Item = (u32, &'a [u8])>) -> Self {
        let mut sorted: Vec<(&[u8], u32)> = tokens
            .into_iter()
            .filter(|(_, bytes)| !bytes.is_empty())
            .map(|(id, b)| (b, id))
            .collect();
        sorted.sort_unstable();

        let root = Node { byte: 0, depth: 0, end: 0, tokens: (0, 0) };
        let mut nodes = vec![root];
        // The nodes from the root to the token before.
        let (mut path, mut before): (Vec<usize>, &[u8]) = (vec![0], &[]);
        for (index, (bytes, _)) in (0..).zip(&sorted) {
            let shared = before.iter().zip(*bytes).take_while(|(a, b)| a == b).count();
            for closed in path.drain(shared + 1..) {
                nodes[closed].end = nodes.len() as u32;
            }
            for &byte in &bytes[shared..] {
                path.push(nodes.len());
                let depth = path.len() as u32 - 1;
                nodes.push(Node { byte, depth, end: 0, tokens: (index, 0) });
            }
            nodes[path[bytes.len()]].tokens.1 += 1;
            before = bytes;
        }
        for open in path {
            nodes[open].end = nodes.len() as u32;
        }
        let deepest = sorted.iter().map(|(bytes, _)| bytes.len()).max().unwrap_or(0);
        Self {
            nodes,
            tokens: sorted.into_iter().map(|(_, id)| id).collect(),
            deepest,
        }
    }

    // ANCHOR: walk
    /// Adds to `mask` each token whose bytes `automaton` can read from `state` on. The two are walked
    /// together: where the automaton cannot read a byte, all tokens that begin so are left out at
    /// once.
    pub fn mask(&self, automaton: &Automaton, state: State, mask: &mut TokenMask) {
        // The states after the bytes on the way to a node.
        let mut states = vec![state; self.deepest + 1];
        let mut index = 1;
        while let Some(node) = self.nodes.get(index) {
            let depth = node.depth as usize;
            let Some(next) = automaton.next(states[depth - 1], node.byte) else {
                index = node.end as usize;
                continue;
            };
            states[depth] = next;
            let (start, count) = (node.tokens.0 as usize, node.tokens.1 as usize);
            for &token in &self.tokens[start..start + count] {
                mask.insert(token);
            }
            index += 1;
        }
    }
    // ANCHOR_END: walk

    /// The number of nodes, without the root.
    pub fn nodes(&self) -> usize {
        self.nodes.len() - 1
    }
}
