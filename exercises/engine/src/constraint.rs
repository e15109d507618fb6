//! Which tokens may come next, so that a text stays inside a regular expression.

use std::collections::HashMap;
use std::iter;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

use crate::broken::fail;
use crate::parts::{NextTokens, Parts, States, TrieNode};
use crate::vocabulary::Vocabulary;

/// The automaton of a regular expression: the texts that it matches as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Automaton {
    /// `[states][classes]`, the start first.
    states: States,
    /// Whether a text may end, by state.
    accepting: Vec<bool>,
    /// The class of each byte.
    classes: Vec<usize>,
}

impl Automaton {
    /// From a pattern, in the syntax of the crate `regex`. Its dead ends are still in it.
    ///
    /// # Errors
    /// A pattern that is wrong, too large, or no matter of states, such as `\b`.
    pub fn of(pattern: &str) -> Result<Self, String> {
        let refused = |why: &dyn std::fmt::Display| {
            format!("--regex takes a regular expression of the crate `regex`: {why}")
        };
        let config = dense::Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .accelerate(false)
            .determinize_size_limit(Some(LARGEST))
            .dfa_size_limit(Some(LARGEST));
        let dfa = dense::Builder::new()
            .configure(config)
            .build(pattern)
            .map_err(|error| refused(&innermost(&error)))?;
        let start = start::Config::new().anchored(Anchored::Yes);
        let start = dfa.start_state(&start).map_err(|error| refused(&error))?;

        let classes = dfa.byte_classes();
        let bytes: Vec<u8> =
            classes.representatives(0..=255).filter_map(|unit| unit.as_u8()).collect();
        let mut numbers = HashMap::from([(start, 0)]);
        let mut found = vec![start];
        let (mut states, mut accepting) = (States::new(), Vec::new());
        while let Some(&state) = found.get(states.len()) {
            accepting.push(dfa.is_match_state(dfa.next_eoi_state(state)));
            let after = bytes.iter().map(|&byte| {
                let to = dfa.next_state(state, byte);
                let number = *numbers.entry(to).or_insert_with(|| {
                    found.push(to);
                    found.len() - 1
                });
                Some(number)
            });
            states.push(after.collect());
        }
        let classes = (0..=u8::MAX).map(|byte| usize::from(classes.get(byte))).collect();
        Ok(Self { states, accepting, classes })
    }

    fn next(&self, state: usize, byte: u8) -> Option<usize> {
        self.states[state][self.classes[usize::from(byte)]]
    }
}

/// Bytes of an automaton.
const LARGEST: usize = 8 << 20;

/// What an error says in the end.
fn innermost(error: &dyn std::error::Error) -> String {
    let last = iter::successors(Some(error), |error| error.source()).last();
    last.unwrap_or(error).to_string()
}

/// A text inside a regular expression.
pub struct Constraint<'a> {
    parts: &'a Parts,
    vocabulary: &'a Vocabulary,
    automaton: Automaton,
    trie: TrieNode,
    /// The tokens that fit, by state.
    fitting: HashMap<usize, Vec<u32>>,
    eos: u32,
}

const PRUNE: &str = "prune_states";
const MASK: &str = "state_mask";
const ENDS: &str = "where_it_ends";

impl<'a> Constraint<'a> {
    /// Before the first token.
    pub fn new(
        parts: &'a Parts,
        vocabulary: &'a Vocabulary,
        eos: u32,
        automaton: &Automaton,
    ) -> Self {
        let Automaton { states, accepting, .. } = automaton;
        let pruned =
            parts.ask_exactly(PRUNE, "its states", |parts| (parts.prune_states)(states, accepting));
        let fits = |row: &Vec<Option<usize>>| {
            row.len() == states[0].len() && row.iter().flatten().all(|&to| to < states.len())
        };
        if pruned.len() != states.len() || !pruned.iter().all(fits) {
            fail(PRUNE, format!("made another table than one of {} states", states.len()));
        }
        let bytes: Vec<Vec<u8>> =
            (0..vocabulary.len()).map(|id| vocabulary.bytes_of(id as u32).to_vec()).collect();
        let trie = parts.ask_exactly("token_trie", "the trie", |parts| (parts.token_trie)(&bytes));
        Self {
            parts,
            vocabulary,
            automaton: Automaton { states: pruned, ..automaton.clone() },
            trie,
            fitting: HashMap::new(),
            eos,
        }
    }

    /// Leaves only the logits of tokens that may come next. None if the text, which is all that was
    /// `written`, is complete.
    pub fn restrict(&mut self, written: &[u32], logits: &[f32]) -> Option<Vec<f32>> {
        let Some(state) = self.state(written) else {
            fail(MASK, "has let a token through that leaves the regular expression");
        };
        let fitting = self.fitting(state);
        let accepts = self.automaton.accepting[state];
        let eos = [self.eos];
        let next = self.parts.ask_exactly(ENDS, "what may come next", |parts| {
            (parts.where_it_ends)(&fitting, accepts, &eos)
        });
        let allowed = match next {
            NextTokens::End => return None,
            NextTokens::Stuck => {
                fail(ENDS, "says that no token can come next, and the text cannot end")
            }
            NextTokens::Choose(allowed) => allowed,
        };
        let mut left = vec![f32::NEG_INFINITY; logits.len()];
        for token in allowed {
            left[token as usize] = logits[token as usize];
        }
        Some(left)
    }

    /// The state after a text. None where it has left the regular expression.
    fn state(&self, written: &[u32]) -> Option<usize> {
        let mut bytes = written.iter().flat_map(|&id| self.vocabulary.bytes_of(id));
        bytes.try_fold(0, |state, &byte| self.automaton.next(state, byte))
    }

    /// The tokens that fit in a state. Looked for the first time that a text comes there.
    fn fitting(&mut self, state: usize) -> Vec<u32> {
        if let Some(fitting) = self.fitting.get(&state) {
            return fitting.clone();
        }
        let Self { parts, automaton, trie, .. } = self;
        let vocab = self.vocabulary.len();
        let follows = |state, byte| automaton.next(state, byte);
        let mask = parts.ask(MASK, |parts| (parts.state_mask)(trie, &follows, state, vocab));
        if mask.len() != vocab {
            fail(MASK, format!("made a mask of {} tokens, and there are {vocab}", mask.len()));
        }
        let fitting: Vec<u32> =
            (0..).zip(mask).filter_map(|(id, fits)| fits.then_some(id)).collect();
        self.fitting.insert(state, fitting.clone());
        fitting
    }
}
