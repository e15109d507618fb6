//! The scheduler, and an engine without a forward pass.

#[path = "../../src/engine/config.rs"]
mod config;
#[path = "../../src/engine/event.rs"]
mod event;
#[path = "../../src/engine/plan.rs"]
mod plan;
#[path = "../../src/engine/record.rs"]
mod record;
#[path = "../../src/engine/scheduler.rs"]
mod scheduler;
#[path = "../../src/engine/sequence.rs"]
mod sequence;
#[path = "../../src/engine/stats.rs"]
mod stats;
mod step;

pub use config::{EngineConfig, Policy};
pub use event::{Event, SequenceId};
pub use plan::{Chunk, Decision, Plan};
pub use record::{Entry, write_record};
pub use scheduler::Scheduler;
pub use stats::EngineStats;
pub use step::{Engine, Outcome};
