//! 15 Only what fits

pub mod token_trie;

#[cfg(test)]
#[path = "../../../exercises/suite/constrained/token_trie.rs"]
mod token_trie_tests;

pub mod state_mask;

#[cfg(test)]
#[path = "../../../exercises/suite/constrained/state_mask.rs"]
mod state_mask_tests;

pub mod prune_states;

#[cfg(test)]
#[path = "../../../exercises/suite/constrained/prune_states.rs"]
mod prune_states_tests;

pub mod where_it_ends;

#[cfg(test)]
#[path = "../../../exercises/suite/constrained/where_it_ends.rs"]
mod where_it_ends_tests;

pub mod partial_character;

#[cfg(test)]
#[path = "../../../exercises/suite/constrained/partial_character.rs"]
mod partial_character_tests;

pub mod mask_too_late;

#[cfg(test)]
#[path = "../../../exercises/suite/constrained/mask_too_late.rs"]
mod mask_too_late_tests;
