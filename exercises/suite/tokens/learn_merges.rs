use super::learn_merges::learn_merges;
use crate::support::{Case, Random};

fn check(rule: &str, words: &[&str], expected: &[(&str, &str)], count: usize) {
    let case = Case::rule(rule).given("words", words).given("count", count);
    let expected: Vec<(String, String)> =
        expected.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect();
    case.equal(expected, learn_merges(words, count));
}

#[test]
fn the_corpus_of_the_page() {
    let rule = "the most frequent pair is joined first";
    let words = ["hop", "top", "mop", "hot"];
    check(rule, &words, &[("o", "p")], 1);
    check(rule, &words, &[("o", "p"), ("h", "op")], 2);
}

#[test]
fn a_word_said_twice_counts_twice() {
    let rule = "every occurrence counts, also in words that are the same";
    check(rule, &["xy", "ab", "ab"], &[("a", "b")], 1);
}

#[test]
fn of_equally_frequent_pairs_the_first_is_taken() {
    let rule = "of equally frequent pairs, the one that occurs earliest in the corpus is taken";
    check(rule, &["zy", "cd", "ab"], &[("z", "y"), ("c", "d"), ("a", "b")], 3);
    check(rule, &["qr", "xy", "ab", "xy", "ab"], &[("x", "y"), ("a", "b"), ("q", "r")], 3);
}

#[test]
fn words_have_borders() {
    let rule = "the end of a word and the beginning of the next are no neighbours";
    check(rule, &["xa", "by", "za", "bw"], &[("x", "a")], 1);
}

#[test]
fn each_step_counts_anew() {
    let rule = "after a merge its pieces are one: the next step counts the new neighbours";
    check(rule, &["abc", "abc", "abd"], &[("a", "b"), ("ab", "c"), ("ab", "d")], 3);
}

#[test]
fn places_that_overlap_all_count() {
    let rule = "`a a a` holds the pair `a a` twice, and becomes `aa a`";
    check(rule, &["bc", "aaa"], &[("a", "a"), ("b", "c"), ("aa", "a")], 3);
}

#[test]
fn it_ends_when_nothing_is_left_to_join() {
    let rule = "where no pair is left, no merge is learned";
    check(rule, &["ab"], &[("a", "b")], 5);
    check(rule, &["a", "é"], &[], 5);
    check(rule, &[], &[], 5);
    check(rule, &["ab"], &[], 0);
}

#[test]
fn a_merge_joins_what_there_is() {
    let mut random = Random::new(0);
    for size in 1..12 {
        let corpus: Vec<String> = (0..size)
            .map(|_| (0..1 + random.below(5)).map(|_| ['a', 'b', 'c'][random.below(3)]).collect())
            .collect();
        let words: Vec<&str> = corpus.iter().map(String::as_str).collect();
        let case = Case::rule("the pieces of a merge are characters, or earlier merges made them")
            .given("words", &words)
            .given("count", size);
        let merges = learn_merges(&words, size);
        let mut pieces: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        for (left, right) in &merges {
            let known = pieces.contains(left) && pieces.contains(right);
            case.holds(known, "pieces that were there at that step", &merges);
            pieces.push(format!("{left}{right}"));
        }
    }
}
