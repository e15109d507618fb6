//! 06 Batching

mod left_padding;

#[path = "../../suite/batching/left_padding.rs"]
mod left_padding_tests;

mod padding_seen;

#[path = "../../suite/batching/padding_seen.rs"]
mod padding_seen_tests;

mod who_finished;

#[path = "../../suite/batching/who_finished.rs"]
mod who_finished_tests;

mod running_batch;

#[path = "../../suite/batching/running_batch.rs"]
mod running_batch_tests;

mod own_seeds;

#[path = "../../suite/batching/own_seeds.rs"]
mod own_seeds_tests;
