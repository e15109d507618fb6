//! 13 Guess ahead

pub mod prompt_lookup;

#[cfg(test)]
#[path = "../../../exercises/suite/guess_ahead/prompt_lookup.rs"]
mod prompt_lookup_tests;

pub mod accept_guesses;

#[cfg(test)]
#[path = "../../../exercises/suite/guess_ahead/accept_guesses.rs"]
mod accept_guesses_tests;

pub mod stop_inside;

#[cfg(test)]
#[path = "../../../exercises/suite/guess_ahead/stop_inside.rs"]
mod stop_inside_tests;

pub mod residual;

#[cfg(test)]
#[path = "../../../exercises/suite/guess_ahead/residual.rs"]
mod residual_tests;

pub mod truncate_blocks;

#[cfg(test)]
#[path = "../../../exercises/suite/guess_ahead/truncate_blocks.rs"]
mod truncate_blocks_tests;

pub mod expected_gain;

#[cfg(test)]
#[path = "../../../exercises/suite/guess_ahead/expected_gain.rs"]
mod expected_gain_tests;

pub mod rejected_rows;

#[cfg(test)]
#[path = "../../../exercises/suite/guess_ahead/rejected_rows.rs"]
mod rejected_rows_tests;
