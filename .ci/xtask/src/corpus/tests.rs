use std::collections::{HashMap, HashSet};

use super::*;

fn sample(n: usize) -> Vec<Story> {
    stories(7).take(n).collect()
}

#[test]
fn a_seed_always_tells_the_same_story() {
    assert_eq!(story(5), story(5));
    assert_ne!(story(5), story(6));
    let a: Vec<Story> = stories(3).take(20).collect();
    let b: Vec<Story> = stories(3).take(20).collect();
    assert_eq!(a, b);
}

#[test]
fn stories_are_distinct_and_of_the_right_length() {
    let all = sample(20_000);
    let texts: HashSet<&str> = all.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(texts.len(), all.len());
    let words: Vec<usize> = all.iter().map(|s| s.text.split_whitespace().count()).collect();
    assert!(words.iter().all(|w| (MIN_WORDS..=MAX_WORDS).contains(w)));
    let mean = words.iter().sum::<usize>() as f64 / words.len() as f64;
    assert!((100.0..180.0).contains(&mean), "mean {mean}");
    let bits = all.iter().map(|s| s.bits).sum::<f64>() / all.len() as f64;
    assert!((130.0..260.0).contains(&bits), "bits {bits}");
    assert!(all.iter().all(|s| s.bits > 40.0));
}

#[test]
fn every_family_occurs_and_few_draws_are_rejected() {
    let mut count: HashMap<&str, usize> = HashMap::new();
    let mut rejected = Vec::new();
    for i in 0..4000 {
        let (family, story) = draw(mix(11, i));
        *count.entry(family).or_default() += 1;
        if !accepted(&story.text) {
            rejected.push((family, check(&story.text).problems, story.text));
        }
    }
    assert_eq!(count.len(), PLOTS.len());
    assert!(count.values().all(|&n| n > 50), "{count:?}");
    let some: Vec<_> = rejected.iter().take(6).collect();
    assert!(rejected.len() < 80, "{} of 4000, such as {some:#?}", rejected.len());
}

#[test]
fn stories_pass_the_check_and_are_written_cleanly() {
    for s in sample(4000) {
        let t = &s.text;
        let found = check(t);
        assert!(found.introduced && found.kinds_kept && found.no_repeated_sentence, "{t}");
        assert!(t.is_ascii());
        assert_eq!(t.trim(), t);
        for bad in [
            "  ", " .", " ,", ",,", "..", "{", "}", "[", "]", "|", "^", "~", "#", "\n\n\n", ",\".",
            ",!", "?.", ".,",
        ] {
            assert!(!t.contains(bad), "{bad:?} in {t}");
        }
        for tag in ["he said", "she said", "he asked", "she asked", "they said"] {
            let up = format!("\" {}{}", tag[..1].to_uppercase(), &tag[1..]);
            assert!(!t.contains(&up), "{t}");
        }
        for para in t.split("\n\n") {
            assert_eq!(para.matches('"').count() % 2, 0, "{t}");
            assert!(para.starts_with(|c: char| c.is_ascii_uppercase() || c == '"'), "{t}");
            assert!(para.ends_with(['.', '!', '?', '"']), "{t}");
        }
        let words: Vec<&str> = t.split_whitespace().collect();
        for pair in words.windows(2) {
            let first = pair[0].trim_start_matches('"').to_ascii_lowercase();
            if first == "a" || first == "an" {
                assert_eq!(first == "an", tidy::takes_an(pair[1]), "{pair:?} in {t}");
            }
            let stop = pair[0].ends_with([',', '.', '!']);
            let bare = pair[1].trim_end_matches([',', '.', '!', '"']);
            assert!(stop || pair[0] != bare, "{pair:?} in {t}");
        }
    }
}

#[test]
fn after_a_quote_comes_a_speaker_or_a_capital() {
    const SAY: &[&str] = &[
        "said",
        "asked",
        "cried",
        "called",
        "whispered",
        "added",
        "shouted",
        "they",
        "go",
        "we",
        "it",
        "went",
    ];
    for s in sample(4000) {
        for end in ["!\" ", "?\" ", ",\" "] {
            for (at, _) in s.text.match_indices(end) {
                let rest = &s.text[at + 3..];
                if rest.trim_start().starts_with(|c: char| c.is_ascii_lowercase()) {
                    let near: Vec<&str> = rest
                        .split_whitespace()
                        .take(5)
                        .map(|w| w.trim_matches(|c: char| !c.is_ascii_alphabetic()))
                        .collect();
                    assert!(near.iter().any(|w| SAY.contains(w)), "{near:?} in {}", s.text);
                }
            }
        }
    }
}

#[test]
fn the_check_catches_what_is_wrong() {
    let good = "A small fox named Pip sat by the pond. Then Nora the owl came. The owl looked at the fox. \"Hello,\" said Pip.";
    assert_eq!(check(good).problems, Vec::<String>::new());
    let no_kind = check("Pip sat by the pond. A fox came by.");
    assert!(!no_kind.introduced && no_kind.kinds_kept);
    let late = check("Pip sat by the pond. Pip was a small fox.");
    assert!(!late.introduced);
    let nobody = check("A fox sat by the pond and was sad.");
    assert!(!nobody.introduced);
    for bad in [
        "A fox named Pip sat down. Pip the rabbit ate.",
        "A fox named Pip sat down. Pip was a grey rabbit.",
        "A fox named Pip sat down. Then Pip, a small rabbit, ate.",
        "A fox named Pip sat down. The rabbit ate.",
        "A fox named Pip sat down. The little grey rabbit ate.",
        "A fox named Pip sat down. They met a rabbit named Pip.",
        "A girl named Pip sat down.",
        "Tilly the boy sat down.",
    ] {
        assert!(!check(bad).kinds_kept, "{bad}");
    }
    let twice =
        check("Pip the fox sat down. He ate a green pear. \"He ate a green pear!\" said all.");
    assert!(!twice.no_repeated_sentence && twice.introduced && twice.kinds_kept);
    let short = check("Pip the fox sat down. Oh no! Oh no! He did not.");
    assert!(short.no_repeated_sentence);
}

#[test]
fn the_check_knows_the_introductions() {
    for good in [
        "A fox called Pip ate.",
        "There was a fox whose name was Pip.",
        "Pip, a small brown fox, ate. The brown fox slept.",
        "Pip was a small fox. The fox ate.",
        "My name is Pip and I am a small fox.",
        "My name is Pip. I am a fox.",
        "I am Pip, a small fox.",
        "\"I am Pip,\" said the fox. The fox ate.",
        "His friend Pip the fox ate. A rabbit came. The rabbit ate.",
    ] {
        assert_eq!(check(good).problems, Vec::<String>::new(), "{good}");
    }
}
