//! 06 Batching

pub mod left_padding;

#[cfg(test)]
#[path = "../../../exercises/suite/batching/left_padding.rs"]
mod left_padding_tests;

pub mod padding_seen;

#[cfg(test)]
#[path = "../../../exercises/suite/batching/padding_seen.rs"]
mod padding_seen_tests;

pub mod who_finished;

#[cfg(test)]
#[path = "../../../exercises/suite/batching/who_finished.rs"]
mod who_finished_tests;

pub mod running_batch;

#[cfg(test)]
#[path = "../../../exercises/suite/batching/running_batch.rs"]
mod running_batch_tests;

pub mod own_seeds;

#[cfg(test)]
#[path = "../../../exercises/suite/batching/own_seeds.rs"]
mod own_seeds_tests;
