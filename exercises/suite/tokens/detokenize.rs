use super::detokenize::detokenize;
use crate::support::{Case, Random};

/// The tokens 5 to 8 are the bytes of 🍎. Token 9 is text that looks like token 0, and the tokens
/// 10 and 15 are special, though they look like text.
const VOCAB: [&[u8]; 16] = [
    b"<|begin|>",
    b"a",
    b" cat",
    b"s",
    b"<|end|>",
    b"\xF0",
    b"\x9F",
    b"\x8D",
    b"\x8E",
    b"<|begin|>",
    b"s",
    b" caf\xC3",
    b"\xA9!",
    "\u{2581}cat".as_bytes(),
    "\u{120}cat".as_bytes(),
    b" cat",
];
const SPECIAL: [u32; 4] = [10, 0, 15, 4];

fn check(rule: &str, ids: &[u32], expected: &str) {
    let case = Case::rule(rule)
        .given("ids", ids)
        .given(
            "tokens",
            format_args!("[{}]", ids.iter().map(readable).collect::<Vec<_>>().join(", ")),
        )
        .given("special", SPECIAL);
    case.equal(expected.to_owned(), detokenize(ids, &VOCAB, &SPECIAL));
}

fn readable(id: &u32) -> String {
    format!("\"{}\"", VOCAB[*id as usize].escape_ascii())
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
    check(rule, &[1, 0, 2, 4, 3, 0, 3], "a catss");
}

#[test]
fn the_id_makes_a_token_special() {
    let rule = "the id decides whether a token is special, not the bytes in its entry";
    check(rule, &[9, 1], "<|begin|>a");
    check(rule, &[0, 9, 4], "<|begin|>");
    check(rule, &[1, 10, 3, 10], "as");
    check(rule, &[1, 15, 3], "as");
}

#[test]
fn no_character_stands_for_a_space() {
    let rule = "the bytes of a token are its text: some vocabularies write a space as `▁` or `Ġ`, \
                this one does not";
    check(rule, &[1, 13], "a▁cat");
    check(rule, &[1, 14], "aĠcat");
}

#[test]
fn a_character_may_be_several_tokens() {
    let rule =
        "the bytes of all tokens together are the text: a token may hold a part of a character";
    check(rule, &[5, 6, 7, 8], "🍎");
    check(rule, &[1, 5, 6, 7, 8, 2], "a🍎 cat");
    check(rule, &[11, 12, 2], " café! cat");
}

#[test]
fn a_special_token_separates_nothing() {
    let rule = "what stands before and after a special token belongs together, also two parts of a character";
    check(rule, &[5, 6, 0, 7, 8], "🍎");
    check(rule, &[11, 4, 12], " café!");
}

#[test]
fn what_stays_half_is_marked() {
    let rule = "what makes no character becomes U+FFFD, and the rest of the text stays";
    check(rule, &[1, 2, 5, 6], "a cat\u{FFFD}");
    check(rule, &[8, 1], "\u{FFFD}a");
    check(rule, &[5, 6, 7], "\u{FFFD}");
}

#[test]
fn as_many_marks_as_from_utf8_lossy_has() {
    let rule = "a character that is cut off is one U+FFFD, and bytes that begin none have one each, \
                as in `String::from_utf8_lossy`";
    check(rule, &[1, 5, 6, 7, 3], "a\u{FFFD}s");
    check(rule, &[8, 6, 1], "\u{FFFD}\u{FFFD}a");
    check(rule, &[5, 6, 5, 6, 7, 8], "\u{FFFD}🍎");
}

#[test]
fn any_text_comes_back_from_its_bytes() {
    // The id of a byte is 256 more than the byte, and the tokens before are for something else.
    let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
    let mut vocab: Vec<&[u8]> = vec![b"?"; 256];
    vocab.extend(bytes.iter().map(<[u8; 1]>::as_slice));
    let letters = [
        'a', ' ', 'é', '字', '🙂', '\n', '\0', '\u{FEFF}', '\u{FFFD}',
    ];
    let mut random = Random::new(0);
    for length in 0..40 {
        let text: String = (0..length).map(|_| letters[random.below(letters.len())]).collect();
        let ids: Vec<u32> = text.bytes().map(|byte| 256 + u32::from(byte)).collect();
        let case = Case::rule("with a token for each byte, every text comes back unchanged")
            .given("vocab", "256 tokens `?`, and then the 256 bytes")
            .given("ids", &ids)
            .given("special", [0; 0]);
        case.equal(text, detokenize(&ids, &vocab, &[]));
    }
}

#[test]
fn no_ids_are_no_text() {
    check("no ids, no text", &[], "");
}
