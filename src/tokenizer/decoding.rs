//! The kinds of tokenizer decoders, which decide when a token's text is final.

use tokenizers::DecoderWrapper;

/// How tokens decode to text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoding {
    /// Each token is a byte string, independent of its neighbours (byte-level BPE, as in GPT-2).
    Bytes,
    /// Each token is text, or one byte of a run, as `<0x41>` (SentencePiece with byte fallback).
    Rows,
    /// Each token is text.
    Text,
    /// Tokens are bytes, with further decoder steps before they become text.
    Mixed,
}

impl Decoding {
    /// Classifies a decoder. Without one, tokens are words.
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

/// Flattens a decoder into its steps.
fn collect_steps<'a>(decoder: &'a DecoderWrapper, steps: &mut Vec<&'a DecoderWrapper>) {
    match decoder {
        DecoderWrapper::Sequence(sequence) => {
            sequence.get_decoders().iter().for_each(|decoder| collect_steps(decoder, steps));
        }
        _ => steps.push(decoder),
    }
}

/// The bytes of a token of a byte-level tokenizer.
pub(super) fn bytes_of(token: &str) -> Vec<u8> {
    let bytes: Option<Vec<u8>> = token.chars().map(byte_of).collect();
    // An added token is stored as its text, not in the byte alphabet.
    bytes.unwrap_or_else(|| token.as_bytes().to_vec())
}

/// The byte of a character in GPT-2's byte alphabet. JSON cannot hold arbitrary bytes, so a
/// printable byte stands for itself, and any other for a character from U+0100 on.
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
