//! 06 Batching

pub mod left_padding;
pub mod own_seeds;
pub mod padding_seen;
pub mod running_batch;
pub mod who_finished;
