//! 14 What other models change

pub mod batch_bytes;
pub mod blocks_behind;
pub mod mixture;
pub mod one_plus_norm;
pub mod partial_rotary;
pub mod rows_by_expert;
pub mod window_mask;
pub mod window_tiles;
