//! 14 What other models change

pub mod window_mask;

#[cfg(test)]
#[path = "../../../exercises/suite/other_models/window_mask.rs"]
mod window_mask_tests;

pub mod window_tiles;

#[cfg(test)]
#[path = "../../../exercises/suite/other_models/window_tiles.rs"]
mod window_tiles_tests;

pub mod blocks_behind;

#[cfg(test)]
#[path = "../../../exercises/suite/other_models/blocks_behind.rs"]
mod blocks_behind_tests;

pub mod mixture;

#[cfg(test)]
#[path = "../../../exercises/suite/other_models/mixture.rs"]
mod mixture_tests;

pub mod rows_by_expert;

#[cfg(test)]
#[path = "../../../exercises/suite/other_models/rows_by_expert.rs"]
mod rows_by_expert_tests;

pub mod batch_bytes;

#[cfg(test)]
#[path = "../../../exercises/suite/other_models/batch_bytes.rs"]
mod batch_bytes_tests;

pub mod partial_rotary;

#[cfg(test)]
#[path = "../../../exercises/suite/other_models/partial_rotary.rs"]
mod partial_rotary_tests;

pub mod one_plus_norm;

#[cfg(test)]
#[path = "../../../exercises/suite/other_models/one_plus_norm.rs"]
mod one_plus_norm_tests;
