//! One line of the log for each request, and its count.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use slowburn::outside::short;
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
    let method = method_of(&request).to_owned();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("unknown", MatchedPath::as_str).to_owned();
    let id = request.extensions().get::<RequestId>();
    let id = short(id.and_then(|id| id.header_value().to_str().ok()).unwrap_or_default());
    let path = request.uri().path().to_owned();
    let span = tracing::info_span!(
        "request",
        id,
        method,
        route,
        path = field::Empty,
        status = field::Empty,
        prompt_tokens = field::Empty,
        completion_tokens = field::Empty,
        finish_reason = field::Empty,
    );
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    span.record("status", status);
    if response.status() == StatusCode::NOT_FOUND {
        span.record("path", short(path));
    }
    app.metrics().count_request(&RequestLabels { method, route, status });
    response.map(|body| Body::new(Logged { body, span, start }))
}

/// The method, if it is one that programs send. Each is a metric of its own, and whoever makes up
/// methods would make up metrics.
fn method_of(request: &Request) -> &'static str {
    match *request.method() {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
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
