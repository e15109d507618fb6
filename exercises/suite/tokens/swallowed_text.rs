use super::swallowed_text::swallowed_text;
use crate::support::{Case, Random};

/// One id for each of `tokens`, in order.
fn pieces(tokens: &[&[u8]]) -> Vec<String> {
    let ids: Vec<u32> = (0..tokens.len() as u32).collect();
    swallowed_text(&ids, tokens)
}

/// Tokens as a failure shows them: what is no letter of ASCII as hexadecimal bytes.
fn shown(tokens: &[&[u8]]) -> impl std::fmt::Debug {
    let tokens: Vec<String> =
        tokens.iter().map(|token| format!("\"{}\"", token.escape_ascii())).collect();
    Shown(tokens.join(", "))
}

struct Shown(String);

impl std::fmt::Debug for Shown {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(formatter, "[{}]", self.0)
    }
}

fn check(rule: &str, tokens: &[&[u8]], expected: &[&str]) {
    let case = Case::rule(rule).given("tokens", shown(tokens));
    case.equal(expected.to_vec(), pieces(tokens).iter().map(String::as_str).collect());
}

#[test]
fn whole_tokens_come_at_once() {
    let rule = "a token of whole characters is a piece";
    check(rule, &[b"Once", b" upon", b" a"], &["Once", " upon", " a"]);
    let rule = "a character is one, whichever it is";
    check(rule, &[b"a\0", "\u{feff}".as_bytes(), b"\x7f"], &["a\0", "\u{feff}", "\x7f"]);
}

#[test]
fn a_character_in_tokens_of_one_byte_comes_with_the_last() {
    let tokens: [&[u8]; 5] = [b"\xF0", b"\x9F", b"\x8D", b"\x8E", b" pie"];
    check("a character comes with its last byte", &tokens, &["", "", "", "🍎", " pie"]);
}

#[test]
fn a_token_may_end_inside_a_character() {
    let rule = "what is whole comes at once, and the beginning of a character waits for its end";
    check(rule, &[b" caf\xC3", b"\xA9", b"!"], &[" caf", "é", "!"]);
}

#[test]
fn a_long_token_may_end_inside_a_character() {
    let tokens: [&[u8]; 3] = [
        b"Once upon a time in a caf\xC3",
        b"\xA9 \xF0\x9F",
        b"\x8D\x8E",
    ];
    let rule = "however long a token is, what is not whole waits";
    check(rule, &tokens, &["Once upon a time in a caf", "é ", "🍎"]);
}

#[test]
fn a_token_may_end_one_character_and_begin_the_next() {
    let rule = "of each token, only what is not whole waits";
    check(rule, &[b"\xC3", b"\xA9\xC3", b"\xA8\xC3", b"\xA0"], &["", "é", "è", "à"]);
}

#[test]
fn a_token_may_be_empty() {
    let rule = "a token of no bytes changes nothing: what waits goes on waiting";
    check(rule, &[b" caf\xC3", b"", b"\xA9", b"", b"!"], &[" caf", "", "é", "", "!"]);
}

#[test]
fn an_id_may_come_again() {
    let vocab: [&[u8]; 3] = [b"\xC3", b"\xA9", b"t"];
    let case = Case::rule("an id stands for the same bytes each time")
        .given("vocab", shown(&vocab))
        .given("ids", [2, 2, 0, 1, 2, 0, 1]);
    let expected = ["t", "t", "", "é", "t", "", "é"].map(String::from).to_vec();
    case.equal(expected, swallowed_text(&[2, 2, 0, 1, 2, 0, 1], &vocab));
}

#[test]
fn a_large_vocabulary() {
    let mut vocab: Vec<&[u8]> = vec![b"?"; 300];
    vocab[258] = b" caf\xC3";
    vocab[299] = b"\xA9";
    let case = Case::rule("an id may be greater than a byte")
        .given("vocab", r#"300 times "?", but 258 is " caf\xc3" and 299 is "\xa9""#)
        .given("ids", [258, 299]);
    case.equal([" caf", "é"].map(String::from).to_vec(), swallowed_text(&[258, 299], &vocab));
}

#[test]
fn nothing_is_lost_and_nothing_comes_late() {
    // With a byte order mark, and a U+FFFD that stands in the text itself.
    let text = "Tom 🍎 café, naïve;\n\u{FEFF}Größe: 10 µm. 猫\u{FFFD} и 🦔!";
    let mut random = Random::new(0);
    for _ in 0..200 {
        let mut tokens: Vec<&[u8]> = Vec::new();
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (token, after) = rest.split_at((1 + random.below(5)).min(rest.len()));
            tokens.push(token);
            rest = after;
        }
        let case = Case::rule("there is one piece for each token").given("tokens", shown(&tokens));
        let pieces = pieces(&tokens);
        case.holds(pieces.len() == tokens.len(), &format!("{} pieces", tokens.len()), &pieces);
        let mut read = 0;
        let mut out = String::new();
        for (i, piece) in pieces.iter().enumerate() {
            read += tokens[i].len();
            out += piece;
            let case = Case::rule("after each token, all that is whole is out, once")
                .given("tokens so far", shown(&tokens[..=i]))
                .given("pieces so far", &pieces[..=i])
                .given("number of the token at which it differs, from 0", i);
            let whole = (0..=read).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            case.equal(text[..whole].to_owned(), out.clone());
        }
    }
}
