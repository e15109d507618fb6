//! The states of a sequence: queued, running, deferred, paused, preempted.

/// The state of a sequence, as in the glossary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Submitted, but not admitted yet. It holds no blocks.
    Queued,
    /// Admitted, and computes tokens.
    Running,
    /// Admitted, with its slot and its blocks, but the last step computed no token of it.
    Deferred,
    /// Its stream was full, and it takes no part in steps. Once its reader has caught up, it is
    /// ready, and stays paused until it is admitted again.
    Paused { ready: bool },
    /// It lost its blocks to an earlier sequence, and waits at its old place in the order of arrival.
    Preempted,
}

/// What happens to a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The scheduler gives it a slot and blocks. Its first tokens are computed in the same step.
    Admitted,
    /// A step computed tokens of it.
    Computed,
    /// A step computed no token of it, though it has a slot: the token budget was spent, for
    /// example.
    LeftOut,
    /// An earlier sequence took its blocks.
    BlocksTaken,
    /// Its stream is full: the reader is behind.
    StreamFull,
    /// The reader has read.
    CaughtUp,
}

/// When a server misbehaves, the first question is: in which state is this sequence, and how could
/// it get there? You answer it for one event: return the state afterwards, or `None` if that event
/// can't happen in this state.
///
/// - Running and deferred sequences have a slot. A step computes these or leaves them out, and no
///   others. They can't be admitted again.
/// - Queued and preempted sequences hold no blocks, so none can be taken. A paused one may hold
///   some. If it loses them, it stays paused, ready or not: it is paused because of its reader, not
///   because of its blocks.
/// - A stream fills up with tokens, so a queued sequence can't have a full one. A preempted one may
///   have unread tokens: if its stream is full, it is paused. The stream of a paused sequence is
///   full already, or its reader has caught up and no new token came.
/// - Only a paused sequence that is not ready is waiting for its reader. `CaughtUp` makes it ready,
///   and no more: it needs a slot before it runs. One that is not ready is not admitted.
///
/// ```text
/// Running   LeftOut      -> Deferred
/// Deferred  Computed     -> Running
/// Queued    BlocksTaken  -> None
/// Paused { ready: false }  CaughtUp  -> Paused { ready: true }
/// ```
pub fn next(state: State, event: Event) -> Option<State> {
    todo!()
}

/// The gauges of the server's metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Sequences that have a slot.
    pub running: usize,
    /// Sequences that were never admitted.
    pub waiting: usize,
    /// Sequences that were admitted once and have no slot now.
    pub paused: usize,
}

/// How many sequences does each gauge show?
pub fn gauges(states: &[State]) -> Gauges {
    todo!()
}
