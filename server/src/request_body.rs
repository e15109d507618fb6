//! The body of a request, and what is left of it when the request is answered.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use futures_util::future::{BoxFuture, Fuse, FutureExt};
use futures_util::stream::StreamExt;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::state::App;

/// The most bytes that are read of what is left.
const MOST: u64 = 1 << 20;

/// The most time that this may take. The answer is sent after it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The server was shut down before the body had come.
#[derive(Debug, thiserror::Error)]
#[error("the server is shutting down")]
pub(super) struct ShutDown;

/// A body for the routes, and what they leave of it.
pub(super) fn lend(body: Incoming, app: &App) -> (Body, Loan) {
    let (owner, returned) = oneshot::channel();
    if body.is_end_stream() {
        return (Body::empty(), Loan(returned));
    }
    let shutdown = app.draining().boxed().fuse();
    let lent = Lent {
        body: Some(body),
        was_asked_for: false,
        shutdown,
        owner: Some(owner),
    };
    (Body::new(lent), Loan(returned))
}

/// A body that goes back when it is dropped, if something of it is left.
struct Lent {
    body: Option<Incoming>,
    was_asked_for: bool,
    shutdown: Fuse<BoxFuture<'static, ()>>,
    owner: Option<oneshot::Sender<Rest>>,
}

/// What is left of a body.
struct Rest {
    body: Incoming,
    /// Something of it was read, or the client was told to send it.
    was_asked_for: bool,
}

/// Where what is left of a body arrives.
pub(super) struct Loan(oneshot::Receiver<Rest>);

impl Loan {
    /// Reads what is left of a body that nobody reads any more. Whether that was all of it, so that
    /// another request can follow: a client that still sends this one would not find the answer
    /// otherwise.
    pub(super) async fn read_rest(mut self, may_wait_to_be_asked: bool, app: &App) -> bool {
        let Ok(Rest { body, was_asked_for }) = self.0.try_recv() else {
            return true;
        };
        if body.is_end_stream() {
            return true;
        }
        // A client that has not been asked for its body perhaps sends it, and perhaps does not.
        let is_unclear = may_wait_to_be_asked && !was_asked_for;
        if is_unclear || body.size_hint().lower() > MOST || app.is_draining() {
            return false;
        }
        tokio::select! {
            is_read = timeout(PATIENCE, read_to_end(body)) => is_read == Ok(true),
            () = app.draining() => false,
        }
    }
}

/// Whether a body comes to its end before it is too long.
async fn read_to_end(body: Incoming) -> bool {
    let mut chunks = Body::new(body).into_data_stream();
    let mut left = MOST;
    while let Some(chunk) = chunks.next().await {
        let length = chunk.map(|chunk| chunk.len() as u64);
        match length.ok().and_then(|length| left.checked_sub(length)) {
            Some(rest) => left = rest,
            None => return false,
        }
    }
    true
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(body).poll_frame(context);
        self.was_asked_for = true;
        if frame.is_pending() && self.shutdown.poll_unpin(context).is_ready() {
            return Poll::Ready(Some(Err(ShutDown.into())));
        }
        let frame = ready!(frame);
        if frame.is_none() {
            self.body = None;
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let (Some(body), Some(owner)) = (self.body.take(), self.owner.take()) {
            let _ = owner.send(Rest { body, was_asked_for: self.was_asked_for });
        }
    }
}
