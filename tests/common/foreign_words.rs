//! For tests of messages: they speak of what a person knows, and not of Rust.

/// Words of Rust, of its crates and of systems, and advice that says nothing.
const FOREIGN: [&str; 51] = [
    "usize",
    "isize",
    "u8",
    "u16",
    "u32",
    "u64",
    "i16",
    "i32",
    "i64",
    "f64",
    "bool",
    "str",
    "struct",
    "enum",
    "untagged",
    "variant",
    "tuple",
    "Option",
    "Some",
    "None",
    "Ok",
    "Err",
    "Vec",
    "unwrap",
    "panic",
    "panicked",
    "EOF",
    "os error",
    "std::",
    "integer `",
    "floating point",
    "expected a sequence",
    "expected a map",
    "invalid length",
    "; change it",
    "{:?}",
    "literal",
    "invalid digit",
    "target type",
    "lexer",
    "DFA",
    "DFAs",
    "NFA",
    "utf-8",
    "SI unit",
    "invalid socket",
    "filter directive",
    "'referencing'",
    "Unsatisfiable",
    "Unimplemented",
    "Regex is",
];

/// The first foreign word of a message, as a word by itself.
pub fn foreign_word(message: &str) -> Option<&'static str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_there = |word: &&&str| {
        message.match_indices(**word).any(|(start, _)| {
            let (before, behind) = (&message[..start], &message[start + word.len()..]);
            // Where the word itself ends in a sign, what is beside it does not matter.
            let begins = !word.starts_with(is_part) || !before.ends_with(is_part);
            let ends = !word.ends_with(is_part) || !behind.starts_with(is_part);
            begins && ends
        })
    };
    FOREIGN.iter().find(is_there).copied()
}

/// Prints messages, for whoever reads the list as a person would meet them, and asserts that none has a
/// foreign word or says nothing.
pub fn assert_in_words(messages: &[String]) {
    for message in messages {
        println!("{message}");
    }
    for message in messages {
        assert_eq!(foreign_word(message), None, "{message}");
        assert!(
            message.len() > 10 && !message.contains(": ;") && !message.ends_with(": "),
            "{message}"
        );
    }
}
