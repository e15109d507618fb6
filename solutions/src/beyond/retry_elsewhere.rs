//! A router that tries again elsewhere, and does not make two requests out of one.
//!
//! Why: a retry is safe if the first replica has surely done nothing. After a broken connection the
//! router can't know. The replica may go on writing a text that nobody reads, and a request that
//! kills a replica kills the next one too. So that decision is left to the client, who knows what a
//! second answer would mean.
//!
//! What it costs: an error in some cases where a retry might have worked. The budget has a price
//! too: when most replicas are gone, most requests fail at once. But without it, every request is
//! tried on every replica just when there are the fewest of them, and if the client retries as
//! well, the attempts multiply.
//!
//! A common wrong turn: counting the retries of a single request. Three retries each are harmless
//! while one request in a thousand fails, and four times the load when all do.

/// How an attempt to have a replica answer a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// No connection: the replica never saw the request.
    NotConnected,
    /// The replica answered with this status, 400 to 599.
    Status(u16),
    /// The connection broke, or nothing came in time. The replica may be working on the request, or
    /// have died of it.
    Broken,
}

/// What the router does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Send the request to this replica.
    Retry(usize),
    /// Answer the client with this status.
    Answer(u16),
    /// The client has a part of the answer: end it with an error event.
    EndWithError,
}

/// An allowance for retries, shared by all requests. Every request adds a tenth of a retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// What is left, in tenths of a retry.
    pub tenths: u32,
}

/// What a retry takes from the budget.
const RETRY: u32 = 10;

/// What the router does after the last attempt has failed.
pub fn after_failure(
    failure: Failure,
    sent: bool,
    tried: &[usize],
    ready: &[bool],
    budget: &mut Budget,
) -> Next {
    if sent {
        return Next::EndWithError;
    }
    let (is_safe, status) = match failure {
        Failure::NotConnected => (true, 503),
        Failure::Status(status) => (matches!(status, 429 | 503), status),
        Failure::Broken => (false, 502),
    };
    if !is_safe || budget.tenths < RETRY {
        return Next::Answer(status);
    }
    let first = tried.last().map_or(0, |last| last + 1);
    let mut others = (first..ready.len()).chain(0..first.min(ready.len()));
    match others.find(|replica| ready[*replica] && !tried.contains(replica)) {
        Some(replica) => {
            budget.tenths -= RETRY;
            Next::Retry(replica)
        }
        None => Next::Answer(status),
    }
}
