use super::swallowed_text::swallowed_text;
use crate::support::{Case, Random};

/// One id for each of `tokens`, in order.
fn pieces(tokens: &[&[u8]]) -> Vec<String> {
    let ids: Vec<u32> = (0..tokens.len() as u32).collect();
    swallowed_text(&ids, tokens)
}

#[test]
fn whole_tokens_come_at_once() {
    let tokens: [&[u8]; 3] = [b"Once", b" upon", b" a"];
    let case = Case::rule("a token of whole characters is a piece").given("tokens", tokens);
    case.equal(vec!["Once".to_owned(), " upon".into(), " a".into()], pieces(&tokens));
}

#[test]
fn a_character_in_tokens_of_one_byte_comes_with_the_last() {
    let tokens: [&[u8]; 5] = [b"\xF0", b"\x9F", b"\x8D", b"\x8E", b" pie"];
    let case = Case::rule("a character comes with its last byte").given("tokens", tokens);
    case.equal(["", "", "", "🍎", " pie"].map(String::from).to_vec(), pieces(&tokens));
}

#[test]
fn a_token_may_end_inside_a_character() {
    let tokens: [&[u8]; 3] = [b" caf\xC3", b"\xA9", b"!"];
    let case = Case::rule(
        "what is whole comes at once, and the beginning of a character waits for its end",
    )
    .given("tokens", tokens);
    case.equal([" caf", "é", "!"].map(String::from).to_vec(), pieces(&tokens));
}

#[test]
fn a_token_may_end_one_character_and_begin_the_next() {
    let tokens: [&[u8]; 4] = [b"\xC3", b"\xA9\xC3", b"\xA8\xC3", b"\xA0"];
    let case = Case::rule("of each token, only what is not whole waits").given("tokens", tokens);
    case.equal(["", "é", "è", "à"].map(String::from).to_vec(), pieces(&tokens));
}

#[test]
fn an_id_may_come_again() {
    let vocab: [&[u8]; 3] = [b"\xC3", b"\xA9", b"t"];
    let case = Case::rule("an id stands for the same bytes each time")
        .given("vocab", vocab)
        .given("ids", [2, 0, 1, 2, 0, 1]);
    let expected = ["t", "", "é", "t", "", "é"].map(String::from).to_vec();
    case.equal(expected, swallowed_text(&[2, 0, 1, 2, 0, 1], &vocab));
}

#[test]
fn nothing_is_lost_and_nothing_comes_late() {
    let text = "Tom 🍎 café, naïve; Größe: 10 µm. 猫 и 🦔!";
    let mut random = Random::new(0);
    for _ in 0..200 {
        let mut tokens: Vec<&[u8]> = Vec::new();
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (token, after) = rest.split_at((1 + random.below(5)).min(rest.len()));
            tokens.push(token);
            rest = after;
        }
        let case =
            Case::rule("after each token, all that is whole is out, once").given("tokens", &tokens);
        let mut read = 0;
        let mut out = String::new();
        for (token, piece) in tokens.iter().zip(pieces(&tokens)) {
            read += token.len();
            out += &piece;
            let whole = (0..=read).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            case.equal(text[..whole].to_owned(), out.clone());
        }
    }
}
