//! One line of the log for each request, and its count.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tower_http::request_id::RequestId;
use tracing::{Instrument, Span, field};

use super::metrics::RequestLabels;
use super::state::App;

/// Counts a request, and logs it when the last byte of its answer is sent, or the client has gone.
pub(super) async fn log_and_count(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let method = request.method().to_string();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("unknown", MatchedPath::as_str).to_owned();
    let id = request.extensions().get::<RequestId>();
    let id = id.and_then(|id| id.header_value().to_str().ok()).unwrap_or_default();
    let span = tracing::info_span!(
        "request",
        id,
        method,
        route,
        status = field::Empty,
        prompt_tokens = field::Empty,
        completion_tokens = field::Empty,
        finish_reason = field::Empty,
    );
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    span.record("status", status);
    app.metrics().count_request(&RequestLabels { method, route, status });
    response.map(|body| Body::new(Logged { body, span, start }))
}

/// A body that logs its request at its end.
struct Logged {
    body: Body,
    span: Span,
    start: Instant,
}

impl HttpBody for Logged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, span, .. } = &mut *self;
        span.in_scope(|| Pin::new(body).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let ms = self.start.elapsed().as_secs_f64() * 1000.0;
        // The body goes first, so that a request that was cancelled is logged as such.
        let span = self.span.clone();
        span.in_scope(|| drop(std::mem::take(&mut self.body)));
        tracing::info!(parent: &self.span, ms = format!("{ms:.1}"), "answered");
    }
}
