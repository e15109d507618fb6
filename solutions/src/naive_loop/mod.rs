//! 00 The naive loop

pub mod generate;
pub mod glued_story;
pub mod last_row;
pub mod positions_read;
