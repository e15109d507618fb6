//! 13 Guess ahead

pub mod accept_guesses;
pub mod expected_gain;
pub mod prompt_lookup;
pub mod rejected_rows;
pub mod residual;
pub mod stop_inside;
pub mod truncate_blocks;
