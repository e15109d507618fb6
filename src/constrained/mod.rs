//! Constrained output: at each step only those tokens may be chosen that keep the text inside a
//! grammar.
//!
//! A grammar says which texts are allowed. Compiled for the [`Vocabulary`] of a model it is a
//! [`Constraint`], which all requests with that grammar share. For each token of a text, a
//! [`Follower`] gives the [`TokenMask`] of those that may come next, and the sampler removes all
//! others before every other rule.
//!
//! A regular expression becomes a deterministic [`Automaton`] over bytes, from whose states an end
//! can always be reached. The mask of a state is found by walking the automaton and a [`TokenTrie`]
//! together (Willard and Louf, arXiv 2307.09702, who index every state in advance; here a mask is
//! computed when its state is reached for the first time). The end-of-sequence tokens are in the mask
//! where the text so far matches.
//!
//! A grammar in which something nests has more states than can be listed. It is read by a [`Parser`],
//! which has a stack.
//!
//! The constraint is about bytes, not about tokens: of the several ways to spell a text by tokens,
//! all are allowed, and a token may end inside a character.

mod automaton;
mod cancel;
mod constraint;
mod follower;
mod mask;
mod parser;
mod trie;
mod vocabulary;

pub use automaton::{Automaton, State};
pub use cancel::Cancel;
pub use constraint::Constraint;
pub use follower::{Follower, NextTokens};
pub use mask::TokenMask;
pub use parser::Parser;
pub use trie::TokenTrie;
pub use vocabulary::Vocabulary;
