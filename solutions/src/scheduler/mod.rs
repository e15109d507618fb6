//! 08 The scheduler

pub mod prompt_chunks;

#[cfg(test)]
#[path = "../../../exercises/suite/scheduler/prompt_chunks.rs"]
mod prompt_chunks_tests;

pub mod one_step;

#[cfg(test)]
#[path = "../../../exercises/suite/scheduler/one_step.rs"]
mod one_step_tests;

pub mod token_budget;

#[cfg(test)]
#[path = "../../../exercises/suite/scheduler/token_budget.rs"]
mod token_budget_tests;

pub mod deferred;

#[cfg(test)]
#[path = "../../../exercises/suite/scheduler/deferred.rs"]
mod deferred_tests;

pub mod starved;

#[cfg(test)]
#[path = "../../../exercises/suite/scheduler/starved.rs"]
mod starved_tests;

pub mod preemption;

#[cfg(test)]
#[path = "../../../exercises/suite/scheduler/preemption.rs"]
mod preemption_tests;
