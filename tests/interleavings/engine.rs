//! The engine.

#[path = "../../src/engine/config.rs"]
mod config;
#[path = "../../src/engine/event.rs"]
mod event;
#[path = "../../src/engine/forward.rs"]
mod forward;
#[path = "../../src/engine/holdings.rs"]
mod holdings;
#[path = "../../src/engine/outcome.rs"]
mod outcome;
#[path = "../../src/engine/plan.rs"]
mod plan;
#[path = "../../src/engine/planning.rs"]
mod planning;
#[path = "../../src/engine/record.rs"]
mod record;
mod recorded_model;
#[path = "../../src/engine/scheduler.rs"]
mod scheduler;
#[path = "../../src/engine/sequence.rs"]
mod sequence;
#[path = "../../src/engine/stats.rs"]
mod stats;
#[path = "../../src/engine/step.rs"]
mod step;

pub use config::{EngineConfig, Policy};
pub use event::{Event, SequenceId};
pub use forward::{ChunkInput, Forward};
pub use holdings::SchedulerRef;
pub use outcome::Outcome;
pub use plan::{Chunk, Decision, Plan};
pub use record::{Entry, write_end, write_record};
pub use recorded_model::RecordedModel;
pub use scheduler::Scheduler;
pub use stats::EngineStats;
pub use step::Engine;
