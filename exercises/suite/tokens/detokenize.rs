use super::detokenize::detokenize;
use crate::support::{Case, Random};

/// The last four tokens are the bytes of 🍎.
const VOCAB: [&[u8]; 9] = [
    b"<|begin|>",
    b"a",
    b" cat",
    b"s",
    b"<|end|>",
    b"\xF0",
    b"\x9F",
    b"\x8D",
    b"\x8E",
];
const SPECIAL: [u32; 2] = [0, 4];

fn check(rule: &str, ids: &[u32], expected: &str) {
    let case = Case::rule(rule)
        .given("ids", ids)
        .given("tokens", ids.iter().map(|&id| readable(id)).collect::<Vec<_>>())
        .given("special", SPECIAL);
    case.equal(expected.to_owned(), detokenize(ids, &VOCAB, &SPECIAL));
}

fn readable(id: u32) -> String {
    VOCAB[id as usize].escape_ascii().to_string()
}

#[test]
fn tokens_are_written_one_after_the_other() {
    let rule = "the tokens stand one after the other, and nothing is added between them";
    check(rule, &[1, 2, 3], "a cats");
    check(rule, &[2], " cat");
}

#[test]
fn special_tokens_have_no_text() {
    let rule = "an id in `special` stands for no text";
    check(rule, &[0, 1, 2, 4], "a cat");
    check(rule, &[4], "");
}

#[test]
fn a_character_may_be_several_tokens() {
    let rule =
        "the bytes of all tokens together are the text: a token may hold a part of a character";
    check(rule, &[5, 6, 7, 8], "🍎");
    check(rule, &[1, 5, 6, 7, 8, 2], "a🍎 cat");
}

#[test]
fn what_stays_half_is_marked() {
    let rule = "what makes no character becomes U+FFFD, and the rest of the text stays";
    check(rule, &[1, 2, 5, 6], "a cat\u{FFFD}");
    check(rule, &[8, 1], "\u{FFFD}a");
}

#[test]
fn any_text_comes_back_from_its_bytes() {
    // The vocabulary of the 256 bytes: the id of a byte is the byte.
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let vocab: Vec<&[u8]> = bytes.iter().map(<[u8; 1]>::as_slice).collect();
    let letters = ['a', ' ', 'é', '字', '🙂', '\n'];
    let mut random = Random::new(0);
    for length in 0..40 {
        let text: String = (0..length).map(|_| letters[random.below(letters.len())]).collect();
        let ids: Vec<u32> = text.bytes().map(u32::from).collect();
        let case = Case::rule("with a token for each byte, every text comes back unchanged")
            .given("ids", &ids)
            .given("special", [0; 0]);
        case.equal(text, detokenize(&ids, &vocab, &[]));
    }
}

#[test]
fn no_ids_are_no_text() {
    check("no ids, no text", &[], "");
}
