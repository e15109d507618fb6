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

use super::deadline;
use super::metrics::RequestLabels;
use super::state::App;

/// Counts a request, and logs it when the last byte of its answer is sent, or the client has gone.
pub(super) async fn log_and_count(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let method = method_of(&request);
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
    let mut line = Line { app, method, route, span, start, is_counted: false };
    let response = deadline::keep(next.run(request)).instrument(line.span.clone()).await;
    if response.status() == StatusCode::NOT_FOUND {
        line.span.record("path", short(path));
    }
    line.count(response.status().as_u16());
    response.map(|body| Body::new(Logged { body, line }))
}

/// The status of a request whose client has gone before there was an answer, as nginx has it in its log.
const CLIENT_GONE: u16 = 499;

/// A request's line of the log, which is written when this is dropped.
struct Line {
    app: App,
    method: &'static str,
    route: String,
    span: Span,
    start: Instant,
    /// Whether its status is known, and counted.
    is_counted: bool,
}

impl Line {
    fn count(&mut self, status: u16) {
        self.is_counted = true;
        self.span.record("status", status);
        let (method, route) = (self.method.to_owned(), self.route.clone());
        self.app.metrics().count_request(&RequestLabels { method, route, status });
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if !self.is_counted {
            self.count(CLIENT_GONE);
        }
        let ms = self.start.elapsed().as_secs_f64() * 1000.0;
        tracing::info!(parent: &self.span, ms = format!("{ms:.1}"), "answered");
    }
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
    line: Line,
}

impl HttpBody for Logged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, line } = &mut *self;
        line.span.in_scope(|| Pin::new(body).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Logged {
    /// The body goes before the line, so that a request that was cancelled is logged as such.
    fn drop(&mut self) {
        self.line.span.in_scope(|| drop(std::mem::take(&mut self.body)));
    }
}
