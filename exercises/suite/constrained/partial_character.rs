use std::ops::RangeInclusive;

use super::partial_character::partial_character;
use crate::support::{Case, Random};

const ACCENTS: RangeInclusive<char> = '\u{e0}'..='\u{ff}';

fn check(rule: &str, pending: &[u8], token: &[u8], allowed: &RangeInclusive<char>, expected: bool) {
    let case =
        Case::rule(rule).given("pending", pending).given("token", token).given("allowed", allowed);
    case.equal(expected, partial_character(pending, token, allowed));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: whole characters have to be allowed, and the beginning at the end has to begin an allowed one";
    check(rule, &[], &[0xc3], &ACCENTS, true);
    check(rule, &[0xc3], &[0xa9], &ACCENTS, true);
    check(rule, &[0xc3], &[0xa9, 0xc3], &ACCENTS, true);
    check(rule, &[0xc3], &[0x80], &ACCENTS, false);
    check(rule, &[], &[0xc2], &ACCENTS, false);
}

#[test]
fn whole_characters_must_be_allowed() {
    let rule = "every whole character has to be allowed";
    check(rule, &[], b"abc", &('a'..='c'), true);
    check(rule, &[], b"abd", &('a'..='c'), false);
    check(rule, &[], b"dba", &('a'..='c'), false);
    check(rule, &[], "é".as_bytes(), &('a'..='z'), false);
    check(rule, &[0xc3], b"\xa9\xc3\x80", &ACCENTS, false);
    check(rule, &[0xc3], b"\xa9a", &ACCENTS, false);
    // The lower two bytes of U+10041 are A's.
    check(rule, &[], "\u{10041}".as_bytes(), &('A'..='Z'), false);
    let rule = "a token without bytes changes nothing";
    check(rule, &[], &[], &ACCENTS, true);
    check(rule, &[0xc3], &[], &ACCENTS, true);
}

#[test]
fn a_beginning_must_be_that_of_an_allowed_character() {
    let rule = "the bytes behind the last whole character must begin an allowed one";
    // U+65E5 is e6 97 a5, U+1F600 is f0 9f 98 80.
    let kanji = '\u{6500}'..='\u{65ff}';
    check(rule, &[], &[0xe6], &kanji, true);
    check(rule, &[], &[0xe6, 0x97], &kanji, true);
    check(rule, &[0xe6], &[0x97, 0xa5], &kanji, true);
    check(rule, &[], &[0xe6, 0x80], &kanji, false);
    check(rule, &[0xe6], &[0x80], &kanji, false);
    check(rule, &[], &[0xe7], &kanji, false);
    let faces = '\u{1f600}'..='\u{1f64f}';
    check(rule, &[0xf0, 0x9f], &[0x98], &faces, true);
    check(rule, &[0xf0, 0x9f, 0x98], &[0x80, 0xf0], &faces, true);
    check(rule, &[0xf0, 0x9f], &[0x97], &faces, false);
    let rule = "a beginning among characters of one byte leads nowhere";
    check(rule, &[], &[0xc3], &('a'..='z'), false);
    let rule = "a character has one form in UTF-8, the shortest: no other begins it";
    check(rule, &[], &[0xe0], &ACCENTS, false);
    check(rule, &[], &[0xf0], &kanji, false);
    let rule = "no character begins with ed a0: UTF-16's surrogates are none";
    check(rule, &[0xed], &[0xa0], &('\u{d000}'..='\u{e000}'), false);
}

#[test]
fn bytes_that_are_no_text_are_not_allowed() {
    let rule = "nothing makes these bytes UTF-8";
    let all = '\0'..=char::MAX;
    for token in [
        &[0xff][..],
        &[0xa9],
        &[b'a', 0xa9],
        &[0xc3, b'a'],
        &[0xc3, 0xc3, 0xa9],
        &[0xc0],
    ] {
        check(rule, &[], token, &all, false);
    }
    check(rule, &[0xc3], b"a", &all, false);
    check(rule, &[0xc3], &[0xc3], &all, false);
    let rule = "any beginning of any character";
    check(rule, &[], &[0xf0], &all, true);
    check(rule, &[], &[0xf4], &all, true);
    check(rule, &[0xf0], &[0x9f, 0x98], &all, true);
    let rule = "ed begins U+D000 to U+D7FF, though not all that may follow it makes a character";
    check(rule, &[], &[0xed], &('\u{d000}'..='\u{d7ff}'), true);
}

/// Whether the bytes are allowed characters and perhaps a beginning, tried character by character.
fn can_be(bytes: &[u8], allowed: &RangeInclusive<char>) -> bool {
    bytes.is_empty()
        || allowed.clone().any(|c| {
            let mut encoded = [0; 4];
            let encoded = c.encode_utf8(&mut encoded).as_bytes();
            encoded.starts_with(bytes)
                || bytes.strip_prefix(encoded).is_some_and(|rest| can_be(rest, allowed))
        })
}

#[test]
fn any_bytes() {
    let mut random = Random::new(17);
    let ranges = [
        'a'..='c',
        '\u{e0}'..='\u{e9}',
        '\u{7e}'..='\u{82}',
        '\u{7fe}'..='\u{801}',
    ];
    for _ in 0..2000 {
        let allowed = &ranges[random.below(ranges.len())];
        let count = 1 + random.below(3);
        let mut text = String::new();
        for _ in 0..count {
            // In the range, or right next to it.
            let first = u32::from(*allowed.start()) - 1;
            text.extend(char::from_u32(first + random.below(12) as u32));
        }
        let mut bytes = text.into_bytes();
        if random.below(4) == 0 {
            let index = random.below(bytes.len());
            bytes[index] ^= 1 << random.below(8);
        }
        bytes.truncate(1 + random.below(bytes.len()));
        // The beginning of an allowed character, which is not complete.
        let longest = allowed.end().len_utf8();
        let splits: Vec<usize> = (0..bytes.len().min(longest))
            .filter(|&end| {
                let whole = std::str::from_utf8(&bytes[..end]).is_ok_and(|text| !text.is_empty());
                !whole && can_be(&bytes[..end], allowed)
            })
            .collect();
        let (pending, token) = bytes.split_at(splits[random.below(splits.len())]);
        let expected = can_be(&bytes, allowed);
        check(
            "allowed characters, and the beginning of one",
            pending,
            token,
            allowed,
            expected,
        );
    }
}
