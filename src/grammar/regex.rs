//! From a regular expression to an automaton.

use std::collections::HashMap;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

use super::words::{OF_REGEX, meaning};
use crate::constrained::Automaton;
use crate::error::{Error, RequestError, Result};

/// The most bytes of a regular expression.
const LONGEST: usize = 64 << 10;

/// The most memory of each automaton on the way, in bytes.
const MEMORY: usize = 16 << 20;

/// The most memory of the sets of states that are told apart on the way, in bytes. Where their number doubles
/// with each character of the expression, this is what ends it, after a fraction of a second.
const SETS: usize = 8 << 20;

impl Automaton {
    // ANCHOR: from_regex
    /// The automaton that accepts the texts that `pattern` matches as a whole. The syntax is that of
    /// the crate `regex`.
    ///
    /// # Errors
    /// A pattern that is wrong, matches nothing, or takes too much memory; one that looks at the
    /// characters around it in a way that no automaton can, such as Unicode's `\b`.
    pub fn from_regex(pattern: &str) -> Result<Self> {
        if pattern.len() > LONGEST {
            return Err(RequestError::GrammarTooLarge { limit: LONGEST }.into());
        }
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            // All texts that match, and not the first or the longest of several.
            .match_kind(MatchKind::All)
            .accelerate(false)
            .dfa_size_limit(Some(MEMORY))
            .determinize_size_limit(Some(SETS));
        let dfa = dense::Builder::new()
            .configure(config)
            .thompson(thompson::Config::new().nfa_size_limit(Some(MEMORY)))
            .build(pattern)
            .map_err(|error| refused(&error))?;
        Self::from_dfa(&dfa)
    }
    // ANCHOR_END: from_regex

    fn from_dfa(dfa: &dense::DFA<Vec<u32>>) -> Result<Self> {
        let classes = dfa.byte_classes();
        let of_byte = Box::new(std::array::from_fn(|byte| classes.get(byte as u8)));
        // A byte of each class.
        let bytes: Vec<u8> =
            classes.representatives(0..=255).filter_map(|unit| unit.as_u8()).collect();

        let start = start::Config::new().anchored(Anchored::Yes);
        let start = dfa
            .start_state(&start)
            .map_err(|error| unusable(meaning(&error.to_string(), &OF_REGEX)))?;
        let mut names = HashMap::from([(start, 0)]);
        let mut states = vec![start];
        let (mut next, mut accepting) = (Vec::new(), Vec::new());
        let mut index = 0;
        while let Some(&state) = states.get(index) {
            index += 1;
            accepting.push(dfa.is_match_state(dfa.next_eoi_state(state)));
            for &byte in &bytes {
                let to: StateID = dfa.next_state(state, byte);
                let name = *names.entry(to).or_insert_with(|| {
                    states.push(to);
                    states.len() as u32 - 1
                });
                next.push(name);
            }
        }
        Self::pruned(of_byte, bytes.len(), &next, &accepting)
            .ok_or(Error::Request(RequestError::GrammarEmpty))
    }
}

fn unusable(problem: String) -> Error {
    Error::Request(RequestError::Grammar { kind: "regular expression", problem })
}

fn refused(error: &dense::BuildError) -> Error {
    let mut cause: &dyn std::error::Error = error;
    let mut is_too_large = error.is_size_limit_exceeded();
    while let Some(source) = cause.source() {
        cause = source;
        let nfa = cause.downcast_ref::<thompson::BuildError>();
        is_too_large |= nfa.is_some_and(|error| error.size_limit().is_some());
    }
    if is_too_large {
        return Error::Request(RequestError::GrammarTooLarge { limit: MEMORY });
    }
    let text = cause.to_string();
    // That of the parser has the pattern first, in lines of its own.
    let problem = text.rsplit("error: ").next().unwrap_or(&text).trim();
    unusable(place(&text).unwrap_or_default() + &meaning(problem, &OF_REGEX))
}

/// Where in a pattern of one line the parser found a problem, by the mark below the pattern.
fn place(error: &str) -> Option<String> {
    let mut lines = error.lines().skip(2);
    let (mark, end) = (lines.next()?, lines.next()?);
    let column = mark.find('^')?.checked_sub(INDENT)? + 1;
    end.starts_with("error: ").then(|| format!("character {column}: "))
}

/// How far the parser indents a pattern.
const INDENT: usize = 4;

/// The regular expression that matches these characters.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
