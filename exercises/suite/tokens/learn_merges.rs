use super::learn_merges::learn_merges;
use crate::support::{Case, Random};

fn check(rule: &str, words: &[&str], expected: &[(&str, &str)], count: usize) {
    let case = Case::rule(rule).given("words", words).given("count", count);
    let expected: Vec<(String, String)> =
        expected.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect();
    case.equal(expected, learn_merges(words, count));
}

#[test]
fn the_most_frequent_pair() {
    let rule = "the most frequent pair is joined first";
    check(rule, &["hop", "top", "mop", "hot"], &[("o", "p")], 1);
    check(rule, &["xy", "bab", "cab", "dab"], &[("a", "b")], 1);
    let words = ["abcd", "abcd", "abcdef", "abcdef", "pq", "pq", "pq"];
    let expected = [
        ("a", "b"),
        ("ab", "c"),
        ("abc", "d"),
        ("p", "q"),
        ("abcd", "e"),
    ];
    check(
        "the most frequent pair is joined first, however long others are",
        &words,
        &expected,
        5,
    );
}

#[test]
fn a_word_said_twice_counts_twice() {
    let rule = "every occurrence counts, also in words that are the same";
    check(rule, &["xy", "ab", "ab"], &[("a", "b")], 1);
}

#[test]
fn frequent_words_count_as_often_as_they_occur() {
    let words: Vec<&str> = [["xy"; 260].as_slice(), &["ab"; 300]].concat();
    let case = Case::rule("every occurrence counts, however many there are")
        .given("words", "260 times \"xy\", and then 300 times \"ab\"")
        .given("count", 1);
    case.equal(vec![("a".to_owned(), "b".to_owned())], learn_merges(&words, 1));
}

#[test]
fn of_equally_frequent_pairs_the_first_is_taken() {
    let rule = "of equally frequent pairs, the one that occurs earliest in the corpus is taken";
    check(rule, &["hop", "top", "mop", "hot"], &[("o", "p"), ("h", "op")], 2);
    check(rule, &["zy", "cd", "ab"], &[("z", "y"), ("c", "d"), ("a", "b")], 3);
    check(rule, &["xab", "cd", "ab", "cd"], &[("a", "b"), ("c", "d"), ("x", "ab")], 3);
    check(rule, &["qr", "xy", "ab", "xy", "ab"], &[("x", "y"), ("a", "b"), ("q", "r")], 3);
}

#[test]
fn earliest_in_the_corpus_as_it_is() {
    let rule = "earliest is meant in the corpus as it is at that step: `b c` is no pair any more in \
                the word `ab c`";
    let expected = [("a", "b"), ("ab", "c"), ("x", "y"), ("b", "c")];
    check(rule, &["abc", "ab", "xy", "bc"], &expected, 4);
}

#[test]
fn a_merge_joins_all_its_places() {
    let rule = "a pair is joined at all its places, in all words";
    check(rule, &["abab"], &[("a", "b"), ("ab", "ab")], 9);
    let expected = [
        ("a", "b"),
        ("ab", "c"),
        ("abc", "abc"),
        ("b", "c"),
        ("bc", "ab"),
    ];
    check(rule, &["abcabc", "bcab"], &expected, 9);
}

#[test]
fn characters_are_as_they_are() {
    let rule = "characters that differ in anything are different, and each is one";
    check(rule, &["ab", "Ab", "Ab"], &[("A", "b"), ("a", "b")], 9);
    check(rule, &["a-b", "a-b", "ab"], &[("a", "-"), ("a-", "b"), ("a", "b")], 9);
    check(rule, &["né", "né"], &[("n", "é")], 9);
    check(rule, &[" a", " a"], &[(" ", "a")], 9);
    check(rule, &["e\u{301}", "e\u{301}"], &[("e", "\u{301}")], 9);
}

#[test]
fn a_sentence() {
    let words = [
        "the", "cat", "sat", "on", "the", "mat", "at", "the", "hat", "dog", "in",
    ];
    let expected = [
        ("a", "t"),
        ("t", "h"),
        ("th", "e"),
        ("c", "at"),
        ("s", "at"),
        ("o", "n"),
        ("m", "at"),
        ("h", "at"),
        ("d", "o"),
        ("do", "g"),
        ("i", "n"),
    ];
    check("all rules together", &words, &expected, 30);
    let words = ["abcd", "xbc", "abx", "cdab", "bcd"];
    let expected = [
        ("a", "b"),
        ("c", "d"),
        ("ab", "cd"),
        ("x", "b"),
        ("xb", "c"),
        ("ab", "x"),
        ("cd", "ab"),
        ("b", "cd"),
    ];
    check("all rules together", &words, &expected, 20);
    check("all rules together", &words, &expected[..5], 5);
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
    check(rule, &["aaaa", "aaa"], &[("a", "a"), ("aa", "aa"), ("aa", "a")], 9);
}

#[test]
fn it_ends_when_nothing_is_left_to_join() {
    let rule = "if no pair is left, no merge is learned";
    check(rule, &["ab"], &[("a", "b")], 5);
    check(rule, &["a", "é"], &[], 5);
    check(rule, &[], &[], 5);
    check("a word may be empty: it has no pair", &["", "ab", "", "ab"], &[("a", "b")], 5);
    check("a word may be empty: it has no pair", &[""], &[], 5);
    check(rule, &["ab"], &[], 0);
    check(rule, &["ab"], &[("a", "b")], usize::MAX);
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
