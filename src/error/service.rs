//! Errors of a service that computes for several callers.

use crate::outside::{in_words, short};

/// Why a service couldn't serve a request with which nothing is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    #[error(
        "the KV caches may take {budget} bytes, of which {in_use} are in use, and {needed} more are needed: allow them more memory, or generate fewer tokens or fewer sequences at once"
    )]
    KvPoolFull {
        budget: usize,
        in_use: usize,
        needed: usize,
    },

    #[error(
        "{what} failed on a fault in the program ({message}): what it was working for has ended, nothing else has; please report it",
        message = short(.message)
    )]
    Panicked { what: &'static str, message: String },

    #[error("the handler failed: {reason}", reason = short(.0))]
    Handler(#[source] Box<dyn std::error::Error + Send + Sync>),

    #[error(
        "the handler returned without a sequence: `start` what `prepare` returns, before the handler ends"
    )]
    NothingStarted,

    #[error("the handler has returned: it can start a sequence only while it runs")]
    HandlerReturned,

    #[error(
        "the model's thread cannot wait for a model: wait in another thread, or in the handler before `start`"
    )]
    WaitInModelThread,

    #[error(
        "the queue is full: {waiting} sequences wait for their turn, and {new} more would be over the limit of {max_waiting}; try again when some have ended, or raise `with_max_waiting`"
    )]
    QueueFull {
        max_waiting: usize,
        waiting: usize,
        new: usize,
    },

    #[error("the inference was shut down: build another one")]
    ShutDown,

    #[error(
        "cannot start the thread of the model: {reason}; end other programs, or raise the limit on processes (`ulimit -u`, or that of the container)",
        reason = in_words(.0)
    )]
    Thread(std::io::Error),

    #[error(
        "cannot start the threads that compute: {reason}; end other programs, or raise the limit on processes (`ulimit -u`, or that of the container)",
        reason = in_words(.reason)
    )]
    Threads { reason: String },
}
