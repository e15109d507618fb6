use super::merge::merge;
use crate::support::{Case, Random};

fn check(rule: &str, word: &str, merges: &[(&str, &str)], expected: &[&str]) {
    let case = Case::rule(rule).given("word", word).given("merges", merges);
    let expected: Vec<String> = expected.iter().map(|&piece| piece.to_owned()).collect();
    case.equal(expected, merge(word, merges));
}

#[test]
fn the_words_of_the_page() {
    let rule = "each merge joins its two pieces wherever they stand side by side";
    let merges = [("o", "p"), ("h", "op")];
    check(rule, "top", &merges, &["t", "op"]);
    check(rule, "hop", &merges, &["hop"]);
    check(rule, "shop", &merges, &["s", "hop"]);
}

#[test]
fn without_a_merge_each_character_is_a_token() {
    let rule = "what no merge joins stays apart";
    check(rule, "hot", &[("o", "p"), ("h", "op")], &["h", "o", "t"]);
    check(rule, "né", &[], &["n", "é"]);
    check(rule, "", &[("a", "b")], &[]);
}

#[test]
fn characters_are_as_they_are() {
    let rule = "each character is a piece at first, as it is";
    check(rule, "A b-", &[("a", "b")], &["A", " ", "b", "-"]);
    check(rule, "Aab ab", &[("a", "b")], &["A", "ab", " ", "ab"]);
    check(rule, "e\u{301}ab", &[("a", "b")], &["e", "\u{301}", "ab"]);
    check(rule, "\0a\tb\u{1}ab", &[("a", "b")], &["\0", "a", "\t", "b", "\u{1}", "ab"]);
}

#[test]
fn a_pair_has_an_order() {
    let rule = "the second piece of a pair stands behind the first";
    check(rule, "baab", &[("a", "b")], &["b", "a", "ab"]);
}

#[test]
fn a_part_of_a_piece_is_no_piece() {
    let rule =
        "a merge joins whole pieces: what only ends or begins like one of its two is not joined";
    check(rule, "abc", &[("a", "b"), ("b", "c")], &["ab", "c"]);
    check(rule, "abab", &[("a", "b"), ("b", "a")], &["ab", "ab"]);
    check(rule, "aab", &[("a", "b"), ("a", "a")], &["a", "ab"]);
}

#[test]
fn what_was_learned_first_is_applied_first() {
    let rule = "merges are applied in the order in which they were learned, not from left to right";
    check(rule, "abc", &[("b", "c"), ("a", "b")], &["a", "bc"]);
    check(rule, "ababc", &[("b", "c"), ("a", "b")], &["ab", "a", "bc"]);
}

#[test]
fn an_order_of_several_merges() {
    let rule = "each merge is applied once, in the order of the list, at all its places";
    let merges = [
        ("a", "c"),
        ("a", "ac"),
        ("b", "aac"),
        ("a", "a"),
        ("aac", "aac"),
    ];
    check(rule, "aacbaaacbba", &merges, &["aac", "b", "a", "aac", "b", "b", "a"]);
    let merges = [
        ("c", "b"),
        ("b", "cb"),
        ("bcb", "a"),
        ("b", "b"),
        ("c", "cb"),
    ];
    check(rule, "bbcbbaabac", &merges, &["b", "bcb", "b", "a", "a", "b", "a", "c"]);
    let merges = [
        ("b", "a"),
        ("a", "ba"),
        ("ba", "a"),
        ("c", "b"),
        ("cb", "ba"),
    ];
    check(rule, "abaaccbbaacbc", &merges, &["aba", "a", "c", "cb", "baa", "cb", "c"]);
    let merges = [
        ("c", "a"),
        ("a", "a"),
        ("c", "ca"),
        ("ca", "aa"),
        ("ca", "a"),
    ];
    let expected = ["b", "b", "cca", "aa", "b", "c", "c", "b", "a"];
    check(rule, "bbccaaabccba", &merges, &expected);
}

#[test]
fn a_longer_piece_does_not_win() {
    let rule = "the order of the merges decides, not the length of a piece";
    let merges = [("b", "c"), ("a", "b"), ("ab", "c")];
    check(rule, "abc", &merges, &["a", "bc"]);
}

#[test]
fn a_merge_joins_all_places() {
    let rule = "a merge joins every place where its pieces stand side by side";
    check(rule, "opop", &[("o", "p")], &["op", "op"]);
    check(rule, "hopshop", &[("o", "p"), ("h", "op")], &["hop", "s", "hop"]);
    check(rule, "ababab", &[("a", "b"), ("ab", "ab")], &["abab", "ab"]);
}

#[test]
fn of_places_that_overlap_the_left_one_is_joined() {
    let rule = "if two places overlap, the left one is joined";
    check(rule, "aaa", &[("a", "a")], &["aa", "a"]);
    check(rule, "aaaaa", &[("a", "a")], &["aa", "aa", "a"]);
    check(rule, "aaaaaaaaaa", &[("a", "a")], &["aa"; 5]);
}

#[test]
fn nothing_is_lost_and_nothing_is_left_to_join() {
    let mut random = Random::new(0);
    for length in 0..60 {
        let learned = some_merges(&mut random, length / 4);
        let merges: Vec<(&str, &str)> = learned.iter().map(|(a, b)| (&**a, &**b)).collect();
        let word: String = (0..length).map(|_| ['a', 'b', 'c'][random.below(3)]).collect();

        let case = Case::rule("the tokens together are the word")
            .given("word", &word)
            .given("merges", &merges);
        let found = merge(&word, &merges);
        case.holds(found.concat() == word, "tokens that spell the word", &found);

        let case = Case::rule("no two neighbours are left that a merge would join")
            .given("word", &word)
            .given("merges", &merges);
        let joined = |pair: &[String]| merges.contains(&(&*pair[0], &*pair[1]));
        case.holds(!found.windows(2).any(joined), "no such neighbours", &found);
    }
}

/// Merges of the letters a, b and c, each with a different result.
fn some_merges(random: &mut Random, count: usize) -> Vec<(String, String)> {
    let mut pieces: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let mut merges = Vec::new();
    while merges.len() < count {
        let left = pieces[random.below(pieces.len())].clone();
        let right = pieces[random.below(pieces.len())].clone();
        let both = format!("{left}{right}");
        if !pieces.contains(&both) {
            pieces.push(both);
            merges.push((left, right));
        }
    }
    merges
}
