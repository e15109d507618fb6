//! A router that tries again elsewhere, and does not make two requests out of one.

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

/// A replica has failed, and another one could answer. But if the first is still working on the
/// request, trying again makes two requests out of one. What does the router do after the last
/// attempt has failed?
///
/// - `sent` is whether the client has got a byte of an answer. If so, nothing can be taken back:
///   the answer ends with an error, whatever the failure.
/// - Try again only if the request has surely not been worked on: no connection, and the statuses
///   429 and 503, with which a replica refuses. Any other status is passed on. For a broken
///   connection, the client gets 502.
/// - `tried` has the replicas that were tried, in order, and is not empty. The next is the first
///   one after the last, wrapping around at the end, that is `ready` and was not tried.
/// - A retry takes ten tenths from the `budget`, which stays as it is if you don't try again. If it
///   has less, or if no replica is left, the client gets the status of the last attempt, or 503 if
///   there was no connection.
///
/// ```text
/// ready [true, true, false, true], budget 25 tenths, nothing sent
///
/// tried [1], NotConnected    Retry(3), and 15 tenths are left
/// tried [3], Status(503)     Retry(0)
/// tried [1], Broken          Answer(502)
/// ```
pub fn after_failure(
    failure: Failure,
    sent: bool,
    tried: &[usize],
    ready: &[bool],
    budget: &mut Budget,
) -> Next {
    todo!()
}
