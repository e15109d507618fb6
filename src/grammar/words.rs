//! What the crates that read grammars say of a wrong one, in words for whoever wrote it: they speak of their
//! own parts.

use crate::outside::json_in_words;

/// What a crate says, with `{}` for what it says it of, and what that means. What begins with `*` may be
/// anywhere in a problem, and everything else is its beginning.
pub(super) type Meaning = (&'static str, &'static str);

/// What a problem means. Where nobody has met it yet, the words of the crate say so.
pub(super) fn meaning<'a>(problem: &str, all: impl IntoIterator<Item = &'a Meaning>) -> String {
    let found =
        all.into_iter().find_map(|(said, meant)| Some(filled(meant, &parts(problem, said)?)));
    found.unwrap_or_else(|| {
        let problem = json_in_words(problem);
        format!("it asks for what is not supported here (\"{problem}\"): write it in another way")
    })
}

/// What a problem has in the places of `{}`.
fn parts<'a>(problem: &'a str, said: &str) -> Option<Vec<&'a str>> {
    let (said, anywhere) = match said.strip_prefix('*') {
        Some(said) => (said, true),
        None => (said, false),
    };
    let mut pieces = said.split("{}");
    let first = pieces.next()?;
    let start = if anywhere { problem.find(first)? } else { 0 };
    let mut rest = problem.get(start..)?.strip_prefix(first)?;
    let mut parts = Vec::new();
    for piece in pieces {
        let end = if piece.is_empty() {
            rest.len()
        } else {
            rest.find(piece)?
        };
        parts.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    Some(parts)
}

/// A sentence with these parts in its places.
fn filled(meant: &str, parts: &[&str]) -> String {
    let mut parts = parts.iter();
    let mut pieces = meant.split("{}");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |sentence, piece| {
        let part = parts.next().copied().map(json_in_words).unwrap_or_default();
        sentence + &part + piece
    })
}

/// What `regex-syntax` and `regex-automata` say of a regular expression, and `derivre`, which reads those in
/// schemas and Lark grammars.
pub(super) const OF_REGEX: [Meaning; 41] = [
    (
        "exceeded the maximum number of capturing groups",
        "it has too many groups: take fewer",
    ),
    (
        "invalid escape sequence found in character class",
        "between `[` and `]` there is an escape that is not one character: write the character itself",
    ),
    (
        "invalid character class range",
        "a range between `[` and `]` ends before it begins: write the lower character first, as in `[a-z]`",
    ),
    (
        "invalid range boundary",
        "a range between `[` and `]` begins or ends with more than a character: write `\\-` for a hyphen that makes no range",
    ),
    (
        "unclosed character class",
        "a `[` has no `]`: close it, or write `\\[` for the character",
    ),
    (
        "decimal literal empty",
        "a `{` has no number behind it: write one, as in `a{2,5}`, or `\\{` for the character",
    ),
    (
        "repetition quantifier expects a valid decimal",
        "a `{` has no number behind it: write one, as in `a{2,5}`, or `\\{` for the character",
    ),
    (
        "decimal literal invalid",
        "a number between `{` and `}` is too large: repeat fewer times",
    ),
    (
        "hexadecimal literal empty",
        "an escape has no number: write one in hexadecimal digits, as in `\\x41` or `\\u{e9}`",
    ),
    (
        "hexadecimal literal is not a Unicode scalar value",
        "the number of an escape is that of no character: write one up to 10FFFF",
    ),
    (
        "invalid hexadecimal digit",
        "the number of an escape has other digits than 0 to 9 and A to F: write it as in `\\x41` or `\\u{e9}`",
    ),
    (
        "incomplete escape sequence",
        "it ends within an escape: write what belongs behind the `\\`, or `\\\\` for the character",
    ),
    (
        "unrecognized escape sequence",
        "a `\\` has a character behind it that makes no escape: leave out the `\\`, or write `\\\\` for the character",
    ),
    ("dangling flag negation operator", FLAGS),
    ("duplicate flag", FLAGS),
    ("flag negation operator repeated", FLAGS),
    ("expected flag but got end of regex", FLAGS),
    ("unrecognized flag", FLAGS),
    (
        "duplicate capture group name",
        "two groups have the same name: rename one of them",
    ),
    ("empty capture group name", NAME),
    ("invalid capture group character", NAME),
    ("unclosed capture group name", NAME),
    ("unclosed group", "a `(` has no `)`: close it, or write `\\(` for the character"),
    (
        "unopened group",
        "a `)` has no `(` before it: open it, or write `\\)` for the character",
    ),
    (
        "exceed the maximum number of nested parentheses/brackets",
        "its brackets lie within each other too deep: nest fewer of them",
    ),
    (
        "invalid repetition count range",
        "the numbers between `{` and `}` are in the wrong order: write the smaller one first, as in `a{2,5}`",
    ),
    (
        "unclosed counted repetition",
        "a `{` has no `}`: close it, or write `\\{` for the character",
    ),
    (
        "repetition operator missing expression",
        "there is nothing before a `*`, `+`, `?` or `{` that it could repeat: write `\\` before it for the character",
    ),
    ("special word boundary assertion", WORD),
    ("unrecognized special word boundary", WORD),
    ("found either the beginning of a special word boundary", WORD),
    ("invalid Unicode character class", CLASS),
    ("Unicode property", CLASS),
    ("Unicode-aware", CLASS),
    (
        "backreferences are not supported",
        "it refers to what a group matched, as by `\\1`, and no automaton remembers that: write out what may stand there",
    ),
    ("look-around", AROUND),
    ("*lookarounds not supported yet", AROUND),
    (
        "Unicode not allowed here",
        "it names characters where `(?-u)` allows bytes alone: leave out `(?-u)`",
    ),
    (
        "pattern can match invalid UTF-8",
        "it matches bytes that are no text: leave out `(?-u)`",
    ),
    ("unsupported regex feature for DFAs", AROUND),
    (
        "invalid line terminator",
        "the end of its lines is no character of ASCII: leave out the flag that says so",
    ),
];
const FLAGS: &str =
    "the flags behind a `(?` are wrong: write each once, of i, m, s, x, u, U and R, as in `(?i)`";
const NAME: &str = "the name of a group is wrong: write letters, digits or `_`, as in `(?<name>a)`";
const WORD: &str =
    "what is behind a `\\b` is wrong: write `\\b` alone, or `\\b{start}` or `\\b{end}`";
const CLASS: &str = "a `\\p` names no class of characters that Unicode has: write one, as in `\\p{L}` or `\\p{Greek}`";
const AROUND: &str = "it looks at the characters around a place, as by `\\b`, `(?=`, `(?!` or `(?<=`, which cannot be \
    kept to token by token: leave that out, and write what may stand there";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_means_what_the_first_of_a_list_says_of_it() {
        let all: [Meaning; 4] = [
            ("no {} in '{}'", "`{}` is not in {}: add it"),
            ("got {}", "that was {}"),
            ("*limit of {} steps", "too much: {}"),
            ("alone", "by itself"),
        ];
        for (problem, meant) in [
            ("no x in 'y'.", "`x` is not in y: add it"),
            ("no {} in 'no'", "`{}` is not in no: add it"),
            ("got EOF while parsing a list", "that was the text ends in the middle of a list"),
            ("a limit of 7 steps is over", "too much: 7"),
            ("alone here", "by itself"),
        ] {
            assert_eq!(meaning(problem, &all), meant);
        }
        let other = meaning("not alone", &all);
        assert!(other.contains("not supported here (\"not alone\")"), "{other}");
    }
}
