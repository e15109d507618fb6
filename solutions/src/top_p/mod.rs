//! 04 Top-p

pub mod min_p;
pub mod nucleus;
pub mod repetition_penalty;
pub mod sampler_order;
pub mod shuffled_nucleus;
pub mod typical;
