//! 00 The naive loop

mod last_row;

#[path = "../../suite/naive_loop/last_row.rs"]
mod last_row_tests;

mod positions_read;

#[path = "../../suite/naive_loop/positions_read.rs"]
mod positions_read_tests;

mod generate;

#[path = "../../suite/naive_loop/generate.rs"]
mod generate_tests;

mod glued_story;

#[path = "../../suite/naive_loop/glued_story.rs"]
mod glued_story_tests;
