//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, StatusCode, Version, header};
use axum::response::Response;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::sleep;
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use super::lingering::{Lingering, Progress};
use super::request_body::lend;
use super::routes::router;
use super::slots::{Admission, InRequest, Slot};
use super::state::App;

/// The bytes of a connection that wait to be sent, or the longest head of a request.
const BUFFER: usize = 64 << 10;

/// At the end of the server, how long a client may take to send the rest of a head.
const LAST_HEAD: Duration = Duration::from_millis(500);

/// What serves each connection.
#[derive(Clone)]
pub(super) struct Handler {
    app: App,
    router: Router,
    http: http1::Builder,
}

impl Handler {
    pub(super) fn new(app: &App) -> Self {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(app.settings().read_timeout.0)
            // What is written and not sent: without a bound, it would hold hundreds of kilobytes
            // for a client that reads slowly.
            .max_buf_size(BUFFER);
        Self { app: app.clone(), router: router(app), http }
    }

    /// Serves a connection until its client ends it, or keeps it waiting, or `closed` is ready, or
    /// the server is shut down. A request that has come is answered before.
    pub(super) async fn serve(
        self,
        stream: TcpStream,
        client: SocketAddr,
        slot: Slot,
        closed: oneshot::Receiver<Infallible>,
    ) {
        // Each token is an event, and goes out at once.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        let mut stream = TimeoutStream::new(stream);
        // Without it, a client that reads nothing would keep its connection for ever.
        stream.set_write_timeout(Some(self.app.settings().write_timeout.0));
        let progress = Arc::new(Progress::default());
        let stream = Lingering::new(Box::pin(stream), progress.clone());

        let (slot, answering) = (Arc::new(slot), progress.clone());
        let draining = self.app.draining();
        let http = self.http.clone();
        let service = service_fn(move |request| {
            answering.begin();
            self.clone().answer(request, client, slot.clone(), answering.clone())
        });
        let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
        let patience = tokio::select! {
            outcome = &mut connection => return log(outcome, client),
            () = draining => LAST_HEAD,
            _ = closed => Duration::ZERO,
        };
        connection.as_mut().graceful_shutdown();
        let silence = async {
            sleep(patience).await;
            if progress.is_served() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            outcome = connection => log(outcome, client),
            () = silence => tracing::debug!(%client, "a connection was closed before it asked"),
        }
    }

    async fn answer(
        self,
        request: hyper::Request<Incoming>,
        client: SocketAddr,
        slot: Arc<Slot>,
        progress: Arc<Progress>,
    ) -> Result<Response, Infallible> {
        let Self { app, router, .. } = self;
        let in_request = slot.begin();
        let may_wait_to_be_asked =
            request.version() >= Version::HTTP_11 && request.headers().contains_key(header::EXPECT);
        let (mut parts, body) = request.into_parts();
        let (body, loan) = lend(body, &app);
        parts.extensions.insert(ConnectInfo(client));
        parts.extensions.insert(slot.admission());
        let mut response = router.oneshot(hyper::Request::from_parts(parts, body)).await?;

        // A body that was too slow before is not waited for again.
        let is_late = response.status() == StatusCode::REQUEST_TIMEOUT;
        let is_read = !is_late && loan.read_rest(may_wait_to_be_asked, &app).await;
        if !is_read {
            progress.leave_unread();
        }
        if !is_read || slot.admission() != Admission::Everything {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        Ok(response.map(|body| Body::new(Answer { body, _in_request: in_request })))
    }
}

fn log(outcome: hyper::Result<()>, client: SocketAddr) {
    if let Err(error) = outcome {
        tracing::debug!(%error, %client, "a connection has broken");
    }
}

/// The body of an answer, with which its request ends.
struct Answer {
    body: Body,
    _in_request: InRequest,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
