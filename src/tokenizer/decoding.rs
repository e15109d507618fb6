//! How the tokens of a tokenizer become text, which says how much of it is known at any time.

use tokenizers::DecoderWrapper;

/// The ways in which tokens stand for text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoding {
    /// Each token is a string of bytes, whatever its neighbours: the kind of GPT-2.
    Bytes,
    /// Each token is text, or one byte in a row of such, as `<0x41>`: the kind of SentencePiece.
    Rows,
    /// Each token is text.
    Text,
    /// Bytes, of which something else becomes before they are text.
    Mixed,
}

impl Decoding {
    /// That of a decoder. Without one, tokens are words.
    pub(super) fn of(decoder: Option<&DecoderWrapper>) -> Self {
        let mut steps = Vec::new();
        decoder.into_iter().for_each(|decoder| collect_steps(decoder, &mut steps));
        let has = |wanted: fn(&DecoderWrapper) -> bool| steps.iter().any(|step| wanted(step));
        match steps.as_slice() {
            [DecoderWrapper::ByteLevel(_)]
            | [DecoderWrapper::ByteLevel(_), DecoderWrapper::Fuse(_)] => Decoding::Bytes,
            _ if has(|step| matches!(step, DecoderWrapper::ByteLevel(_))) => Decoding::Mixed,
            _ if has(|step| matches!(step, DecoderWrapper::ByteFallback(_))) => Decoding::Rows,
            _ => Decoding::Text,
        }
    }
}

/// The steps of a decoder, one after the other.
fn collect_steps<'a>(decoder: &'a DecoderWrapper, steps: &mut Vec<&'a DecoderWrapper>) {
    match decoder {
        DecoderWrapper::Sequence(sequence) => {
            sequence.get_decoders().iter().for_each(|decoder| collect_steps(decoder, steps));
        }
        _ => steps.push(decoder),
    }
}

/// The bytes that a token stands for where each token is a string of bytes.
pub(super) fn bytes_of(token: &str) -> Vec<u8> {
    let bytes: Option<Vec<u8>> = token.chars().map(byte_of).collect();
    // A token that was added to the vocabulary as a text is that text.
    bytes.unwrap_or_else(|| token.as_bytes().to_vec())
}

/// A vocabulary is JSON, which cannot hold any byte. So each byte has a character that stands
/// for it: itself where that can be seen, and else one of those from U+0100 on.
fn byte_of(c: char) -> Option<u8> {
    let byte = match c {
        '!'..='~' | '¡'..='¬' | '®'..='ÿ' => c as u32,
        '\u{100}'..='\u{120}' => c as u32 - 0x100,
        '\u{121}'..='\u{142}' => c as u32 - 0x121 + 0x7F,
        '\u{143}' => 0xAD,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_character() {
        let mut bytes: Vec<u8> = ('\0'..='\u{200}').filter_map(byte_of).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, (0..=255).collect::<Vec<u8>>());
        assert_eq!(bytes_of("Ġthe"), b" the");
        assert_eq!(bytes_of("<é🍎>"), "<é🍎>".as_bytes());
    }
}
