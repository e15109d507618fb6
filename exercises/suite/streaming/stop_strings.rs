use super::stop_strings::StopFilter;
use crate::support::{Case, Random};

/// What is given out with each piece, until a stop: then "STOP" follows. At last comes what
/// `finish` gives.
fn filter(stops: &[&str], pieces: &[&str]) -> Vec<String> {
    let mut filter = StopFilter::new(stops);
    let mut texts = Vec::new();
    for piece in pieces {
        let passed = filter.push(piece);
        texts.push(passed.text);
        if passed.stopped {
            texts.push("STOP".to_owned());
            break;
        }
    }
    texts.push(filter.finish());
    texts
}

fn check(rule: &str, stops: &[&str], pieces: &[&str], expected: &[&str]) {
    let case = Case::rule(format!(
        "{rule} (shown: what each push gives, STOP after a stop, and what finish gives)"
    ))
    .given("stop strings", stops)
    .given("pieces", pieces);
    let expected: Vec<String> = expected.iter().map(|&text| text.to_owned()).collect();
    case.equal(expected, filter(stops, pieces));
}

#[test]
fn the_example_of_the_task() {
    let pieces = ["Hi E", "a", "a", "a", "bc"];
    let expected = ["Hi ", "E", "", "a", "", "STOP", ""];
    check(
        "the example above the function: the longest end that may begin a stop string is held back, and nothing before it",
        &["aab", "END"],
        &pieces,
        &expected,
    );
}

#[test]
fn without_a_stop_string_all_is_given_out() {
    check(
        "text that begins no stop string is given out at once",
        &[],
        &["a", "", "b"],
        &["a", "", "b", ""],
    );
    check(
        "text that begins no stop string is given out at once",
        &["xy"],
        &["ab", "cy"],
        &["ab", "cy", ""],
    );
}

#[test]
fn only_the_text_before_it() {
    let rule = "only what is before the stop string is a part of the result";
    check(rule, &["END"], &["one END two"], &["one ", "STOP", ""]);
    check(rule, &["END"], &["END"], &["", "STOP", ""]);
}

#[test]
fn it_may_be_cut_anywhere() {
    let rule = "a stop string may begin in one token and end in another";
    check(rule, &["\n\n"], &["line", "\n", "\n"], &["line", "", "", "STOP", ""]);
    check(rule, &["END"], &["a E", "N", "Db"], &["a ", "", "", "STOP", ""]);
}

#[test]
fn a_beginning_that_comes_to_nothing() {
    let rule = "what was held back is given out when it can't become a stop string any more";
    check(rule, &["\n\n"], &["one\n", "two"], &["one", "\ntwo", ""]);
    check(rule, &["END"], &["E", "N", "d"], &["", "", "ENd", ""]);
}

#[test]
fn a_new_beginning_within_the_old_one() {
    let rule = "the longest end of the text that may begin a stop string stays held back";
    check(rule, &["aab"], &["a", "a", "a", "b"], &["", "", "a", "", "STOP", ""]);
    check(rule, &["\n\nEnd"], &["\n", "\n", "\n", "End"], &["", "", "\n", "", "STOP", ""]);
    check(rule, &["abac"], &["aba", "b", "ac"], &["", "ab", "", "STOP", ""]);
}

#[test]
fn the_longest_of_several_beginnings() {
    let rule = "with several stop strings, the longest beginning of any of them is held back";
    check(rule, &["c!", "bcd"], &["abc", "x"], &["a", "bcx", ""]);
    check(rule, &["bcd", "c!"], &["abc", "!"], &["a", "b", "STOP", ""]);
}

#[test]
fn which_stop_string_counts() {
    let rule = "the stop string that is complete first counts";
    check(rule, &["bcde", "cd"], &["abcde"], &["ab", "STOP", ""]);
    check(rule, &["bcde", "cd"], &["abc", "d", "e"], &["a", "b", "STOP", ""]);
    let rule = "of two that are complete with the same character, the longer one counts";
    check(rule, &["d", "bcd"], &["abcd"], &["a", "STOP", ""]);
    check(rule, &["bcd", "d"], &["ab", "cd"], &["a", "", "STOP", ""]);
}

#[test]
fn the_first_place_of_a_stop_string_counts() {
    let rule = "if a stop string comes twice in a token, the first one ends the text";
    check(rule, &["END"], &["one END two END"], &["one ", "STOP", ""]);
    check(rule, &["aa"], &["baaa"], &["b", "STOP", ""]);
    check(rule, &["b", "ab"], &["xab b"], &["x", "STOP", ""]);
}

#[test]
fn there_may_be_many_stop_strings() {
    let rule = "every stop string ends the text, and the beginning of any is held back";
    let stops = ["one", "two", "three", "four", "five"];
    for stop in stops {
        let (start, end) = stop.split_at(2);
        check(rule, &stops, &["7", start, end], &["7", "", "", "STOP", ""]);
        check(rule, &stops, &["7", start, "!"], &["7", "", &format!("{start}!"), ""]);
    }
    check(rule, &[], &["one", "", "two\n"], &["one", "", "two\n", ""]);
}

#[test]
fn a_stop_string_may_be_long() {
    let rule = "a token may be long, before the stop string and behind it";
    let long = "many words ".repeat(40);
    check(rule, &["END"], &["a E", &format!("ND{long}")], &["a ", "", "STOP", ""]);
    check(rule, &["END"], &[&format!("{long}END{long}")], &[&long, "STOP", ""]);
    let rule = "a stop string may be longer than any token";
    let stop = "<|the end of all that this text says|>";
    let (most, last) = stop.split_at(stop.len() - 1);
    check(
        rule,
        &[stop],
        &["so", &most[..9], &most[9..], last],
        &["so", "", "", "", "STOP", ""],
    );
    check(rule, &[stop], &["so", most], &["so", "", most]);
}

#[test]
fn white_space_counts() {
    let rule = "white space is text like any other, in a stop string too";
    check(rule, &["END "], &["an END", ".", " END \n"], &["an ", "END.", " ", "STOP", ""]);
    check(rule, &["\n\n"], &["a \n"], &["a ", "\n"]);
    check(rule, &["\n"], &["a\r", "b \n"], &["a\r", "b ", "STOP", ""]);
    check(rule, &[" x"], &["a ", " ", "y "], &["a", " ", " y", " "]);
    let rule = "large and small letters differ";
    check(rule, &["END"], &["end", " En", "d"], &["end", " En", "d", ""]);
}

#[test]
fn characters_of_several_bytes() {
    let rule = "characters of several bytes are never cut";
    check(rule, &["\u{e9}!"], &["caf\u{e9}", "\u{e8}"], &["caf", "\u{e9}\u{e8}", ""]);
    check(rule, &["\u{e9}\u{e8}"], &["caf\u{e9}", "\u{e8}"], &["caf", "", "STOP", ""]);
    check(rule, &["END"], &["\u{e9}\u{1f34e}END more"], &["\u{e9}\u{1f34e}", "STOP", ""]);
    check(
        rule,
        &["END"],
        &["\u{130}\u{e9}E", "NDmore"],
        &["\u{130}\u{e9}", "", "STOP", ""],
    );
}

#[test]
fn the_end_gives_out_what_is_held() {
    check(
        "at the end, what was held back is a part of the result",
        &["END"],
        &["a E", "N"],
        &["a ", "", "EN"],
    );
}

/// The length of the longest end of `text` that begins one of `stops`.
fn undecided(stops: &[&str], text: &str) -> usize {
    let begins =
        |end: &str| stops.iter().any(|stop| stop.len() > end.len() && stop.starts_with(end));
    (0..=text.len()).find(|&at| begins(&text[at..])).map_or(0, |at| text.len() - at)
}

#[test]
fn random_texts_are_given_out_as_early_as_possible() {
    let mut random = Random::new(0);
    let words = ["ab", "aab", "aba", "bb", "abab", "baa"];
    for round in 0..400 {
        let stops: Vec<&str> = (0..random.below(3)).map(|_| words[random.below(6)]).collect();
        let pieces: Vec<&str> =
            (0..1 + round / 40).map(|_| ["a", "b", "ba", "", "aa"][random.below(5)]).collect();
        let case = Case::rule("all is given out that can't be a part of a stop string")
            .given("stop strings", &stops)
            .given("pieces", &pieces);

        let (mut text, mut out, mut expected) = (String::new(), 0, Vec::new());
        for piece in &pieces {
            text.push_str(piece);
            let ends = (0..=text.len()).find_map(|end| {
                let mut complete: Vec<&&str> =
                    stops.iter().filter(|stop| text[..end].ends_with(**stop)).collect();
                complete.sort_by_key(|stop| stop.len());
                complete.last().map(|stop| end - stop.len())
            });
            let known = ends.unwrap_or_else(|| text.len() - undecided(&stops, &text));
            expected.push(text[out..known].to_owned());
            out = known;
            if ends.is_some() {
                expected.push("STOP".to_owned());
                out = text.len();
                break;
            }
        }
        expected.push(text[out..].to_owned());
        case.equal(expected, filter(&stops, &pieces));
    }
}
