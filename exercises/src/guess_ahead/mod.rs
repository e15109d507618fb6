//! 13 Guess ahead

mod prompt_lookup;

#[path = "../../suite/guess_ahead/prompt_lookup.rs"]
mod prompt_lookup_tests;

mod accept_guesses;

#[path = "../../suite/guess_ahead/accept_guesses.rs"]
mod accept_guesses_tests;

mod stop_inside;

#[path = "../../suite/guess_ahead/stop_inside.rs"]
mod stop_inside_tests;

mod residual;

#[path = "../../suite/guess_ahead/residual.rs"]
mod residual_tests;

mod truncate_blocks;

#[path = "../../suite/guess_ahead/truncate_blocks.rs"]
mod truncate_blocks_tests;

mod expected_gain;

#[path = "../../suite/guess_ahead/expected_gain.rs"]
mod expected_gain_tests;

mod rejected_rows;

#[path = "../../suite/guess_ahead/rejected_rows.rs"]
mod rejected_rows_tests;
