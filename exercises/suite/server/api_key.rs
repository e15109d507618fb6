use super::api_key::{Counted, bearer, same};
use crate::support::Case;

fn check_header(rule: &str, header: &str, expected: Option<&str>) {
    let case = Case::rule(rule).given("authorization", header);
    case.equal(expected, bearer(header));
}

/// Whether `given` is taken for the key.
fn check_key(rule: &str, given: &str, key: &str, expected: bool) {
    let case = Case::rule(rule).given("given", given).given("key", key);
    case.equal(expected, same(&Counted::new(given.as_bytes()), &Counted::new(key.as_bytes())));
}

#[test]
fn the_key_of_a_header() {
    let rule = "the key comes after `Bearer` and a space";
    check_header(rule, "Bearer sk-1", Some("sk-1"));
    check_header(rule, "Bearer Bearer", Some("Bearer"));
    check_header(rule, "Bearer a=b:c~/+", Some("a=b:c~/+"));
    let rule = "a tab is no space: it belongs to the key";
    check_header(rule, "Bearer a\tb", Some("a\tb"));
    check_header(rule, "Bearer \tsk-1", Some("\tsk-1"));
}

#[test]
fn other_schemes() {
    let rule = "a header that does not begin with `Bearer ` has no key";
    for header in [
        "Basic sk-1",
        "sk-1",
        "",
        "Bearersk-1",
        "Bear sk-1",
        "Bearer: sk-1",
        "Bearer\tsk-1",
        "Bearer\u{b}sk-1",
        " Bearer sk-1",
    ] {
        check_header(rule, header, None);
    }
}

#[test]
fn large_and_small_letters() {
    check_header("`bearer` is `Bearer`", "bearer sk-A", Some("sk-A"));
    check_header("`BEARER` is `Bearer`", "BEARER sk-A", Some("sk-A"));
}

#[test]
fn spaces() {
    check_header("there may be several spaces before the key", "Bearer   sk-1", Some("sk-1"));
    let rule = "a key has at least one character, and no space within it or behind it";
    for header in [
        "Bearer",
        "Bearer ",
        "Bearer   ",
        "Bearer a b",
        "Bearer sk-1 ",
        "Bearer a  b",
    ] {
        check_header(rule, header, None);
    }
}

#[test]
fn headers_that_are_not_ascii() {
    let rule = "a header may have any characters: there is no key, and no panic";
    for header in [
        "B\u{e9}arer sk-1",
        "Beare\u{e9}sk-1",
        "\u{1f34e}",
        "Bearer\u{a0}sk-1",
    ] {
        check_header(rule, header, None);
    }
    check_header("a key may have any characters", "Bearer \u{e9}", Some("\u{e9}"));
}

#[test]
fn the_right_key_and_others() {
    check_key("the key itself is right", "sk-12345", "sk-12345", true);
    check_key("one other byte, and it is not", "sk-12346", "sk-12345", false);
    check_key("one other byte, and it is not", "Sk-12345", "sk-12345", false);
    check_key("large and small letters differ", "SK-A", "sk-a", false);
    check_key("the same bytes in another order are not the key", "sk-54321", "sk-12345", false);
    check_key("two differences are not none", "aa", "bb", false);
    check_key("two differences are not none", "ab", "ba", false);
}

#[test]
fn a_key_may_be_long() {
    let key = "k".repeat(1000);
    let given = "k".repeat(999) + "x";
    let case = Case::rule("all bytes count, however many there are")
        .given("key", "1000 times k")
        .given("given", "999 times k, and x");
    case.equal(false, same(&Counted::new(given.as_bytes()), &Counted::new(key.as_bytes())));
    case.equal(true, same(&Counted::new(key.as_bytes()), &Counted::new(key.as_bytes())));
}

#[test]
fn differences_do_not_cancel() {
    for (given, key) in [
        (&[0x80, 0x80][..], &[0, 0][..]),
        (&[0x40; 4], &[0; 4]),
        (&[0x01; 256], &[0; 256]),
        (&[1, 255], &[0, 0]),
        (&[2, 1], &[1, 2]),
    ] {
        let case = Case::rule("differences are not added up: a sum of them may be 0 again")
            .given("given", given)
            .given("key", key);
        case.equal(false, same(&Counted::new(given), &Counted::new(key)));
    }
}

#[test]
fn another_length() {
    let rule = "a key of another length is not the key, even if one begins with the other";
    for given in ["", "s", "sk-1234", "sk-123456", "sk-12345\0"] {
        check_key(rule, given, "sk-12345", false);
    }
}

#[test]
fn how_many_bytes_are_read() {
    let key = "sk-0123456789";
    for (difference, given) in [
        ("none", "sk-0123456789"),
        ("the first byte", "xk-0123456789"),
        ("a byte in the middle", "sk-0123x56789"),
        ("the last byte", "sk-012345678x"),
        ("all bytes", "xxxxxxxxxxxxx"),
    ] {
        let case = Case::rule(
            "with the same length, all bytes of both are read once, whatever they are \
             (shown: how many reads of given and of key)",
        )
        .given("given", given)
        .given("key", key)
        .given("what differs", difference);
        let (given, key) = (Counted::new(given.as_bytes()), Counted::new(key.as_bytes()));
        same(&given, &key);
        case.equal((key.length(), key.length()), (given.reads(), key.reads()));
    }
}

#[test]
fn another_length_tells_nothing_else() {
    let key = "sk-0123456789";
    let reads = |given: &str| {
        let (given, key) = (Counted::new(given.as_bytes()), Counted::new(key.as_bytes()));
        same(&given, &key);
        (given.reads(), key.reads())
    };
    for (right, wrong) in [
        ("sk-01234", "xxxxxxxx"),
        ("sk-0123456789ab", "xxxxxxxxxxxxxxx"),
    ] {
        let case = Case::rule(
            "with another length, as many bytes are read for the beginning of the key as for \
             anything else",
        )
        .given("given, first", right)
        .given("given, then", wrong)
        .given("key", key);
        case.equal(reads(right), reads(wrong));
    }
}

#[test]
fn every_byte_counts() {
    let key = "abcdefgh";
    for at in 0..key.len() {
        for other in [0, b'z', b'a' + at as u8 + 1, (b'a' + at as u8) ^ 0x80] {
            let mut given = key.as_bytes().to_vec();
            given[at] = other;
            let case = Case::rule("a key with one other byte is not the key")
                .given("given", given.escape_ascii().to_string())
                .given("key", key);
            case.equal(false, same(&Counted::new(&given), &Counted::new(key.as_bytes())));
        }
    }
}
