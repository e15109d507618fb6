//! 00 The naive loop

pub mod last_row;

#[cfg(test)]
#[path = "../../../exercises/suite/naive_loop/last_row.rs"]
mod last_row_tests;

pub mod positions_read;

#[cfg(test)]
#[path = "../../../exercises/suite/naive_loop/positions_read.rs"]
mod positions_read_tests;

pub mod generate;

#[cfg(test)]
#[path = "../../../exercises/suite/naive_loop/generate.rs"]
mod generate_tests;

pub mod glued_story;

#[cfg(test)]
#[path = "../../../exercises/suite/naive_loop/glued_story.rs"]
mod glued_story_tests;
