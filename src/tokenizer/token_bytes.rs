//! The bytes of single tokens.

use super::decoding::{Decoding, bytes_of};
use super::{TokenKind, Tokenizer, byte_of};

impl Tokenizer {
    /// The bytes of the text that a token stands for, which may be a part of a character. The joined
    /// bytes of the tokens of a text are those of the text, with one exception: SentencePiece puts a
    /// space before a text, and its decoder strips it. Here the first token has it, as it would in
    /// any other place.
    ///
    /// None for an id without text: a special token, whose name is [`token`](Self::token), or an id
    /// outside the vocabulary.
    pub fn token_bytes(&self, id: u32) -> Option<Vec<u8>> {
        let token = self.token(id)?;
        match (self.kind(id), self.decoding) {
            (TokenKind::Silent, _) => None,
            (TokenKind::Byte, _) => byte_of(&token).map(|byte| vec![byte]),
            (TokenKind::Text, Decoding::Bytes | Decoding::Mixed) => Some(bytes_of(&token)),
            (TokenKind::Text, Decoding::Rows | Decoding::Text) => self.text_after_itself(id),
        }
    }

    /// What a token adds to a text that is not empty: the decoder may strip a space before the
    /// first token.
    fn text_after_itself(&self, id: u32) -> Option<Vec<u8>> {
        let (once, twice) = (self.decode(&[id]).ok()?, self.decode(&[id, id]).ok()?);
        twice.strip_prefix(&once).map(|rest| rest.as_bytes().to_vec())
    }
}
