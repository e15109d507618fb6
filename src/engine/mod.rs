//! The engine: which tokens of which sequences a step computes, and the step itself.
//!
//! A [`Scheduler`] turns its state and [`Event`]s into the [`Plan`] of a step. It has no clock, no
//! thread and no randomness, so the same events always give the same plans, and you can replay them. An
//! [`Engine`] carries a plan out with a model. Neither knows about sampling: the engine hands you logits, and
//! you hand it tokens.

mod config;
mod event;
mod holdings;
mod on_model;
mod outcome;
mod plan;
mod planning;
mod preemption;
mod record;
mod recorded_model;
mod scheduler;
mod sequence;
mod stats;
mod step;

pub use config::{EngineConfig, Policy};
pub use event::{Event, SequenceId};
pub use holdings::SchedulerRef;
pub use outcome::Outcome;
pub use plan::{Chunk, Decision, Plan};
pub use record::{Entry, write_end, write_record};
pub use recorded_model::RecordedModel;
pub use scheduler::Scheduler;
pub use stats::EngineStats;
pub use step::Engine;
