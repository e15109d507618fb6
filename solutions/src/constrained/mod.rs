//! 15 Only what fits

pub mod mask_too_late;
pub mod partial_character;
pub mod prune_states;
pub mod state_mask;
pub mod token_trie;
pub mod where_it_ends;
