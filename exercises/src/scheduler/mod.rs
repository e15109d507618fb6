//! 08 The scheduler

mod prompt_chunks;

#[path = "../../suite/scheduler/prompt_chunks.rs"]
mod prompt_chunks_tests;

mod one_step;

#[path = "../../suite/scheduler/one_step.rs"]
mod one_step_tests;

mod token_budget;

#[path = "../../suite/scheduler/token_budget.rs"]
mod token_budget_tests;

mod deferred;

#[path = "../../suite/scheduler/deferred.rs"]
mod deferred_tests;

mod starved;

#[path = "../../suite/scheduler/starved.rs"]
mod starved_tests;

mod preemption;

#[path = "../../suite/scheduler/preemption.rs"]
mod preemption_tests;

mod batch_step;

#[path = "../../suite/scheduler/batch_step.rs"]
mod batch_step_tests;
