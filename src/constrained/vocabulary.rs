//! The tokens of a model, as constraints see them.

use super::TokenTrie;

/// The tokens of a model: their bytes, and which of them end a text.
#[derive(Debug)]
pub struct Vocabulary {
    /// By id. Empty for a token without text, such as a special token.
    bytes: Vec<Vec<u8>>,
    trie: TokenTrie,
    end_ids: Vec<u32>,
}

impl Vocabulary {
    /// A vocabulary of `size` tokens with these bytes, `end_ids` of which end a text. A token without
    /// bytes is in no constrained text.
    pub fn new(size: usize, bytes_of: impl Fn(u32) -> Option<Vec<u8>>, end_ids: Vec<u32>) -> Self {
        let bytes = |id| {
            let bytes = bytes_of(id).filter(|_| !end_ids.contains(&id));
            bytes.unwrap_or_default()
        };
        let bytes: Vec<Vec<u8>> = (0..size as u32).map(bytes).collect();
        let trie = TokenTrie::new((0..).zip(bytes.iter().map(Vec::as_slice)));
        Self { bytes, trie, end_ids }
    }

    /// The number of tokens.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of a token; none for one without text, or outside the vocabulary.
    pub fn bytes(&self, id: u32) -> &[u8] {
        self.bytes.get(id as usize).map_or(&[], Vec::as_slice)
    }

    /// All tokens with text, by their bytes.
    pub fn trie(&self) -> &TokenTrie {
        &self.trie
    }

    /// The tokens that end a text.
    pub fn end_ids(&self) -> &[u32] {
        &self.end_ids
    }
}
