use your_engine::Parts;
use your_engine::parts::TrieNode;

use super::state_mask::{Node, state_mask};

pub fn take_over(parts: &mut Parts) {
    parts.state_mask =
        |trie, follows, state, vocab| state_mask(&node(trie), follows, state, vocab);
}

fn node(root: &TrieNode) -> Node {
    let children = root.children.iter().map(|(&byte, child)| (byte, node(child)));
    Node {
        children: children.collect(),
        tokens: root.tokens.clone(),
    }
}
