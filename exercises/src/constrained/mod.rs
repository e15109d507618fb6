//! 15 Only what fits

mod token_trie;

#[path = "../../suite/constrained/token_trie.rs"]
mod token_trie_tests;

mod state_mask;

#[path = "../../suite/constrained/state_mask.rs"]
mod state_mask_tests;

mod prune_states;

#[path = "../../suite/constrained/prune_states.rs"]
mod prune_states_tests;

mod where_it_ends;

#[path = "../../suite/constrained/where_it_ends.rs"]
mod where_it_ends_tests;

mod partial_character;

#[path = "../../suite/constrained/partial_character.rs"]
mod partial_character_tests;

mod mask_too_late;

#[path = "../../suite/constrained/mask_too_late.rs"]
mod mask_too_late_tests;
