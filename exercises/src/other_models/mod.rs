//! 14 What other models change

mod window_mask;

#[path = "../../suite/other_models/window_mask.rs"]
mod window_mask_tests;

mod window_tiles;

#[path = "../../suite/other_models/window_tiles.rs"]
mod window_tiles_tests;

mod blocks_behind;

#[path = "../../suite/other_models/blocks_behind.rs"]
mod blocks_behind_tests;

mod mixture;

#[path = "../../suite/other_models/mixture.rs"]
mod mixture_tests;

mod rows_by_expert;

#[path = "../../suite/other_models/rows_by_expert.rs"]
mod rows_by_expert_tests;

mod batch_bytes;

#[path = "../../suite/other_models/batch_bytes.rs"]
mod batch_bytes_tests;

mod partial_rotary;

#[path = "../../suite/other_models/partial_rotary.rs"]
mod partial_rotary_tests;

mod one_plus_norm;

#[path = "../../suite/other_models/one_plus_norm.rs"]
mod one_plus_norm_tests;
