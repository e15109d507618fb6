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
fn two_bytes_that_begin_no_character() {
    let rule =
        "bytes that look like a beginning and are none become U+FFFD as soon as that is known";
    for byte in [0xC0, 0xC1, 0xF5, 0xF8, 0xFE] {
        check(rule, &[&[byte], b"a"], &["\u{fffd}", "a", ""]);
    }
    // Too long for what it says, a surrogate, and more than there are characters.
    for pair in [
        [0xE0, 0x80],
        [0xE0, 0x9F],
        [0xED, 0xA0],
        [0xED, 0xBF],
        [0xF0, 0x8F],
        [0xF4, 0x90],
    ] {
        check(rule, &[&pair[..1], &pair[1..], b"a"], &["", "\u{fffd}\u{fffd}", "a", ""]);
    }
    check(rule, &[b"\xED\xA0\x80\xED\xB0\x80"], &["\u{fffd}".repeat(6).as_str(), ""]);
}

#[test]
fn every_character_is_given_out() {
    let rule = "every character is a part of the text, also one that is not seen";
    check(
        rule,
        &["\u{feff}a".as_bytes(), "\u{feff}".as_bytes()],
        &["\u{feff}a", "\u{feff}", ""],
    );
    check(rule, &[b"\xEF\xBB", b"\xBFa"], &["", "\u{feff}a", ""]);
    check(rule, &[b"a\r", b"\n", b"\0b\n", b" "], &["a\r", "\n", "\0b\n", " ", ""]);
    check(rule, &[b" a\r\n\tb\x1B"], &[" a\r\n\tb\x1B", ""]);
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

/// How many bytes at the end are the beginning of a character.
fn beginning(bytes: &[u8]) -> usize {
    let is_beginning = |end: &&[u8]| {
        let error = std::str::from_utf8(end).err();
        error.is_some_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    let ends = (1..=bytes.len().min(3)).rev().map(|count| &bytes[bytes.len() - count..]);
    ends.into_iter().find(is_beginning).map_or(0, <[u8]>::len)
}

#[test]
fn together_they_are_the_whole_text() {
    let mut random = Random::new(0);
    let bytes = [
        0x61, 0xC3, 0xA9, 0xF0, 0x9F, 0x8D, 0x8E, 0xFF, 0xE0, 0xA0, 0x80, 0xED, 0xEF, 0xBB, 0xBF,
        0xF4, 0x0A, 0xC0,
    ];
    for count in 1..600 {
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
        let found = decode(&pieces);
        case.equal(String::from_utf8_lossy(&text).into_owned(), found.concat());

        let case =
            Case::rule("with each piece comes all that is known (shown: what has come by then)")
                .given("pieces, in hexadecimal", format_args!("{pieces:02X?}"));
        let (mut bytes, mut come) = (Vec::new(), String::new());
        for (piece, found) in pieces.iter().zip(&found) {
            bytes.extend_from_slice(piece);
            come += found;
            let known = bytes.len() - beginning(&bytes);
            case.equal(String::from_utf8_lossy(&bytes[..known]).into_owned(), come.clone());
        }
    }
}
