use your_engine::Parts;
use your_engine::parts::TrieNode;

use super::token_trie::{Node, token_trie};

pub fn take_over(parts: &mut Parts) {
    parts.token_trie = |vocabulary| node(token_trie(vocabulary));
}

fn node(root: Node) -> TrieNode {
    let Node { children, tokens } = root;
    let children = children.into_iter().map(|(byte, child)| (byte, node(child)));
    TrieNode { children: children.collect(), tokens }
}
