//! The engine: which tokens of which sequences a step computes, and the step itself.
//!
//! A [`Scheduler`] turns its state and [`Event`]s into the [`Plan`] of a step. It has no clock, no
//! thread and no randomness: the same events always give the same plans. An [`Engine`] carries a
//! plan out on a model. Neither knows of sampling: the engine returns logits, and is given tokens.

mod config;
mod event;
mod plan;
mod record;
mod scheduler;
mod sequence;
mod stats;
mod step;

pub use config::{EngineConfig, Policy};
pub use event::{Event, SequenceId};
pub use plan::{Chunk, Decision, Plan};
pub use record::{Entry, write_record};
pub use scheduler::Scheduler;
pub use stats::EngineStats;
pub use step::{Engine, Outcome};
