//! Constrained output: a model may choose only tokens that keep the text inside a grammar.
//!
//! A grammar defines the allowed texts. Compiled for a model's [`Vocabulary`] it becomes a [`Constraint`],
//! which all requests with that grammar share. A [`Follower`] walks along with one text. After each token
//! it gives you the [`TokenMask`] of the tokens that may come next, and the sampler removes all others
//! before any other rule.
//!
//! A regular expression becomes a deterministic [`Automaton`] over bytes, which has no dead ends: from each
//! state the text can still reach an end. To find a state's mask, we walk the automaton and a [`TokenTrie`]
//! together (Willard and Louf, arXiv 2307.09702, who index every state in advance; here a mask is computed
//! when a text first reaches its state, then cached). The end-of-sequence tokens are in the mask if the
//! text so far matches.
//!
//! If something nests in a grammar, it has more states than you can list. So it is read by a [`Parser`], which
//! has a stack.
//!
//! A constraint is about bytes, not about tokens: a text may be spelled by any of the token sequences that
//! give it, and a token may end inside a character.

mod automaton;
mod cancel;
mod constraint;
mod follower;
mod mask;
mod parser;
mod reasoning;
mod trie;
mod vocabulary;

pub use automaton::{Automaton, State};
pub use cancel::Cancel;
pub use constraint::Constraint;
#[cfg(feature = "text")]
pub(crate) use constraint::ConstraintId;
pub use follower::{Follower, NextTokens};
pub use mask::TokenMask;
pub use parser::Parser;
pub use reasoning::Reasoning;
pub use trie::TokenTrie;
pub use vocabulary::Vocabulary;
