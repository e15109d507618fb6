//! Checks on a story's text alone, for text that a model wrote as much as for these.

use std::collections::{HashMap, HashSet};

use super::lexicon::{KINDS, list};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The first mention of every listed name carries a kind.
    ///
    /// A mention carries a kind in one of these forms, where `fox` stands for any listed kind
    /// and up to three words may describe it: `fox named Pip`, `fox called Pip`, `fox whose
    /// name was Pip`, `Pip the fox`, `Pip, a small fox`, `Pip was a small fox`, `Pip is a
    /// small fox`, `my name is Pip. I am a fox` (or with `and`), `I am Pip, a fox`, and
    /// `"I am Pip," said the fox`. A text without any listed name fails this rule.
    pub introduced: bool,
    /// No name changes its kind and no kind comes from nowhere.
    ///
    /// Three tests. A later mention that carries a kind (the forms above) carries the same
    /// kind as before. `the fox`, with up to two words between, only occurs when a name has
    /// been given that kind or `a fox` has been written, anywhere earlier. `girl` only goes
    /// with names for "she" and `boy` only with names for "he". Plurals are not looked at.
    pub kinds_kept: bool,
    /// No sentence of at least four words occurs twice.
    ///
    /// Sentences end at `.`, `!` or `?`. Letter case, quotes and other punctuation are ignored.
    pub no_repeated_sentence: bool,
    /// One line for each thing that is wrong.
    pub problems: Vec<String>,
}

/// Checks a story. See the fields of [`Check`] for what each rule tests.
pub fn check(text: &str) -> Check {
    let tokens = tokens(text);
    let mut problems = Vec::new();
    let (mut introduced, mut kinds_kept) = (true, true);
    let mut given: HashMap<&str, &str> = HashMap::new();
    let mut met: HashSet<&str> = HashSet::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for (i, &token) in tokens.iter().enumerate() {
        if is_name(token) {
            let bound = bound_kind(&tokens, i);
            let first = seen.insert(token);
            if first && bound.is_none() {
                introduced = false;
                problems.push(format!("{token} is not introduced with a kind"));
            }
            if let Some(kind) = bound {
                met.insert(kind);
                let before = *given.entry(token).or_insert(kind);
                let wrong = problems_of_kind(token, kind, before);
                kinds_kept &= wrong.is_empty();
                problems.extend(wrong);
            }
        } else if is(token, &["a", "an", "another"]) {
            if let Some((kind, _)) = kind_after(&tokens, i + 1, 3) {
                met.insert(kind);
            }
        } else if is(token, &["the"])
            && let Some((kind, at)) = kind_after(&tokens, i + 1, 2)
            && !met.contains(kind)
            && !bound_name_follows(&tokens, at)
            && !(i > 0 && is_name(tokens[i - 1]))
            && !speaker_is_named(&tokens, i)
        {
            kinds_kept = false;
            problems.push(format!("\"the {kind}\" comes from nowhere"));
        }
    }
    if seen.is_empty() {
        introduced = false;
        problems.push("nobody has a listed name".to_string());
    }
    let repeated = repeated_sentences(text);
    problems.extend(repeated.iter().map(|sentence| format!("told twice: {sentence}")));
    Check {
        introduced,
        kinds_kept,
        no_repeated_sentence: repeated.is_empty(),
        problems,
    }
}

/// What is wrong with a `kind` for `name`, which was introduced as a `before`.
fn problems_of_kind(name: &str, kind: &str, before: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if before != kind {
        problems.push(format!("{name} was a {before} and became a {kind}"));
    }
    if kind == "girl" && list("he").contains(&name) || kind == "boy" && list("she").contains(&name)
    {
        problems.push(format!("{name} is not a name for a {kind}"));
    }
    problems
}

/// The words of each sentence of at least four that was told before.
fn repeated_sentences(text: &str) -> Vec<String> {
    let mut told = HashSet::new();
    let mut repeated = Vec::new();
    for sentence in text.split(['.', '!', '?']) {
        let words: Vec<String> = sentence
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '\'')
            .filter(|w| !w.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let sentence = words.join(" ");
        if words.len() >= 4 && !told.insert(sentence.clone()) {
            repeated.push(sentence);
        }
    }
    repeated
}

/// Words and single punctuation marks. A possessive `'s` is a token of its own.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if len > 0 {
            out.push(&rest[..len]);
            rest = &rest[len..];
        } else {
            let n = c.len_utf8();
            if !c.is_whitespace() {
                out.push(&rest[..n]);
            }
            rest = &rest[n..];
        }
    }
    out
}

fn is(token: &str, words: &[&str]) -> bool {
    words.iter().any(|w| token.eq_ignore_ascii_case(w))
}

fn is_name(token: &str) -> bool {
    ["he", "she"].iter().any(|key| list(key).contains(&token))
}

fn kind_of(token: &str) -> Option<&'static str> {
    KINDS.iter().map(|k| k.noun).find(|noun| token.eq_ignore_ascii_case(noun))
}

/// A kind at `from`, or after up to `most` describing words.
fn kind_after(tokens: &[&str], from: usize, most: usize) -> Option<(&'static str, usize)> {
    const NOT_ADJECTIVES: &[&str] = &[
        "the", "a", "an", "and", "of", "to", "in", "on", "by", "with", "was", "is", "for", "at",
        "or", "but", "that", "who", "from", "as", "his", "her", "my", "named", "called",
    ];
    for (i, token) in tokens.iter().enumerate().skip(from).take(most + 1) {
        if let Some(kind) = kind_of(token) {
            return Some((kind, i));
        }
        let word = token.chars().all(|c| c.is_ascii_lowercase());
        if !word || is(token, NOT_ADJECTIVES) {
            return None;
        }
    }
    None
}

/// The kind that the mention of a name at `i` carries.
fn bound_kind(tokens: &[&str], i: usize) -> Option<&'static str> {
    let at = |j: usize| tokens.get(j).copied().unwrap_or("");
    let back = |n: usize| if n <= i { at(i - n) } else { "" };
    if is(back(1), &["named", "called"]) {
        let who_was = is(back(2), &["was"]) && is(back(3), &["who"]);
        if let Some(kind) = kind_of(back(if who_was { 4 } else { 2 })) {
            return Some(kind);
        }
    }
    if is(back(1), &["was", "is"]) && is(back(2), &["name"]) && is(back(3), &["whose"]) {
        return kind_of(back(4));
    }
    let mut j = i + 1;
    if is(at(j), &["the"]) {
        return kind_after(tokens, j + 1, 3).map(|k| k.0);
    }
    if is(at(j), &["was", "is", ","]) && is(at(j + 1), &["a", "an"]) {
        return kind_after(tokens, j + 2, 3).map(|k| k.0);
    }
    let own = is(back(1), &["is"]) && is(back(2), &["name"]) && is(back(3), &["my"])
        || is(back(1), &["am"]) && is(back(2), &["i"]);
    if own {
        while is(at(j), &[".", ",", "!", "and"]) {
            j += 1;
        }
        if is(at(j), &["i"]) && is(at(j + 1), &["am"]) && is(at(j + 2), &["a", "an"]) {
            return kind_after(tokens, j + 3, 3).map(|k| k.0);
        }
        if at(j) == "\"" && is(at(j + 1), &["said"]) && is(at(j + 2), &["the"]) {
            return kind_after(tokens, j + 3, 3).map(|k| k.0);
        }
    }
    None
}

/// Whether the kind at `at` is about to be given to a name, as in "the fox named Pip".
fn bound_name_follows(tokens: &[&str], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|next| is(next, &["named", "called"]))
        && tokens.get(at + 2).is_some_and(|name| is_name(name))
}

/// Whether "the" at `i` follows `"I am Pip," said`.
fn speaker_is_named(tokens: &[&str], i: usize) -> bool {
    i >= 4
        && is(tokens[i - 1], &["said"])
        && tokens[i - 2] == "\""
        && tokens[..i - 2].iter().rev().take(2).any(|t| is_name(t))
}
