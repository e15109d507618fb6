//! The states of a sequence: queued, running, deferred, paused, preempted.
//!
//! Why: the states differ in what a sequence holds, a slot or blocks, and in what it is waiting
//! for. A deferred one holds both and needs nothing but the next step. A paused one waits for a
//! person, a preempted one for memory, a queued one for its first turn. Mixing them up is
//! expensive: a deferred sequence that gives up its slot is overtaken, a paused one that keeps it
//! stops others.
//!
//! What it costs: nothing. With a table of states and events you can check the log of a scheduler:
//! an event that can't happen is a bug, and `None` finds it where it happens.
//!
//! A common wrong turn: running a paused sequence as soon as its reader has caught up. When a
//! hundred readers catch up at once, a hundred sequences would run, and the limit on slots would be
//! none.

use Event::{Admitted, BlocksTaken, CaughtUp, Computed, LeftOut, StreamFull};
use State::{Deferred, Paused, Preempted, Queued, Running};

/// The state of a sequence, as in the glossary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Submitted, and never admitted yet.
    Queued,
    /// Admitted, and computes tokens.
    Running,
    /// Admitted, but the last step computed nothing of it.
    Deferred,
    /// Its stream was full. Once its reader has caught up, it is ready, and waits for a slot.
    Paused { ready: bool },
    /// It lost its blocks to an earlier sequence.
    Preempted,
}

/// What happens to a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Admitted,
    Computed,
    LeftOut,
    BlocksTaken,
    StreamFull,
    CaughtUp,
}

/// The state after an event, or `None` if that event cannot happen in this state.
pub fn next(state: State, event: Event) -> Option<State> {
    match (state, event) {
        (Queued | Preempted | Paused { ready: true }, Admitted) => Some(Running),
        (Running | Deferred, Computed) => Some(Running),
        (Running | Deferred, LeftOut) => Some(Deferred),
        (Running | Deferred, BlocksTaken) => Some(Preempted),
        (Paused { ready }, BlocksTaken) => Some(Paused { ready }),
        (Running | Deferred | Preempted, StreamFull) => Some(Paused { ready: false }),
        (Paused { ready: false }, CaughtUp) => Some(Paused { ready: true }),
        _ => None,
    }
}

/// The gauges of the server's metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauges {
    pub running: usize,
    pub waiting: usize,
    pub paused: usize,
}

/// How many sequences does each gauge show?
pub fn gauges(states: &[State]) -> Gauges {
    let mut gauges = Gauges::default();
    for state in states {
        match state {
            Running | Deferred => gauges.running += 1,
            Queued => gauges.waiting += 1,
            Paused { .. } | Preempted => gauges.paused += 1,
        }
    }
    gauges
}
