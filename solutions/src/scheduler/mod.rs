//! 08 The scheduler

pub mod deferred;
pub mod one_step;
pub mod preemption;
pub mod prompt_chunks;
pub mod starved;
pub mod token_budget;
