use super::incremental_decode::Decoder;
use crate::support::{Case, Random};

/// What each push gives, and what `finish` gives.
fn decode(pieces: &[&[u8]]) -> Vec<String> {
    let mut decoder = Decoder::default();
    let mut texts: Vec<String> = pieces.iter().map(|piece| decoder.push(piece)).collect();
    texts.push(decoder.finish());
    texts
}

/// `expected` has a text for each piece, and one for `finish`.
fn check(rule: &str, pieces: &[&[u8]], expected: &[&str]) {
    let case = Case::rule(format!("{rule} (shown: what each push gives, and what finish gives)"))
        .given("pieces, in hexadecimal", format_args!("{pieces:02X?}"));
    let expected: Vec<String> = expected.iter().map(|&text| text.to_owned()).collect();
    case.equal(expected, decode(pieces));
}

#[test]
fn whole_characters_are_given_out_at_once() {
    let rule = "a piece of whole characters is given out at once";
    check(rule, &[b"Once", b" upon", b"", b" a"], &["Once", " upon", "", " a", ""]);
    check(
        rule,
        &["h\u{e9}".as_bytes(), "\u{1f34e}!".as_bytes()],
        &["h\u{e9}", "\u{1f34e}!", ""],
    );
}

#[test]
fn a_character_comes_with_its_last_byte() {
    let rule = "a character is given out with its last byte, and nothing before";
    check(rule, &[&[0xC3], &[0xA9]], &["", "\u{e9}", ""]);
    check(rule, &[&[0xF0], &[0x9F], &[0x8D], &[0x8E]], &["", "", "", "\u{1f34e}", ""]);
    check(rule, &[&[0xF0, 0x9F], &[], &[0x8D, 0x8E]], &["", "", "\u{1f34e}", ""]);
}

#[test]
fn what_is_whole_before_it_is_given_out() {
    let rule = "only the beginning of a character at the end is held back";
    check(
        rule,
        &[b"ab\xC3", b"\xA9cd\xF0\x9F", b"\x8D\x8E"],
        &["ab", "\u{e9}cd", "\u{1f34e}", ""],
    );
}

#[test]
fn a_byte_that_is_wrong_is_known_at_once() {
    let rule = "a byte that begins no character becomes U+FFFD at once, and is not held back";
    check(rule, &[b"a\xFFb"], &["a\u{fffd}b", ""]);
    check(rule, &[b"a\xFF", b"\x80", b"b"], &["a\u{fffd}", "\u{fffd}", "b", ""]);
}

#[test]
fn a_beginning_that_is_not_continued() {
    let rule =
        "a beginning that is broken off becomes one U+FFFD, however long, with the next byte";
    check(rule, &[b"\xF0\x9F", b"a"], &["", "\u{fffd}a", ""]);
    check(rule, &[b"\xC3", b"\xC3", b"\xA9"], &["", "\u{fffd}", "\u{e9}", ""]);
    check(rule, &[b"a\xE2\x82b"], &["a\u{fffd}b", ""]);
}

#[test]
fn the_character_u_fffd_is_a_character() {
    let rule = "a text may hold the character U+FFFD itself, EF BF BD: it is whole";
    check(rule, &[b"a\xEF\xBF\xBD", b"b"], &["a\u{fffd}", "b", ""]);
}

#[test]
fn the_end_gives_out_what_is_held() {
    let rule = "finish gives one U+FFFD for a character that never became whole";
    check(rule, &[b"a\xC3"], &["a", "\u{fffd}"]);
    check(rule, &[b"a", b"\xF0\x9F\x8D"], &["a", "", "\u{fffd}"]);
}

#[test]
fn together_they_are_the_whole_text() {
    let mut random = Random::new(0);
    let bytes = [0x61, 0xC3, 0xA9, 0xF0, 0x9F, 0x8D, 0x8E, 0xFF];
    for count in 1..300 {
        let text: Vec<u8> = (0..1 + count / 20).map(|_| bytes[random.below(bytes.len())]).collect();
        let mut pieces = Vec::new();
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(random.below(3).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        let case = Case::rule("all pieces together are String::from_utf8_lossy of all bytes")
            .given("pieces, in hexadecimal", format_args!("{pieces:02X?}"));
        case.equal(String::from_utf8_lossy(&text).into_owned(), decode(&pieces).concat());
    }
}
