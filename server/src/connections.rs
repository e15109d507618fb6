//! The connections that are open.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use slowburn::outside::in_words;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::connection::Handler;
use super::error::ApiError;
use super::slots::{Admission, Limit, Slots};
use super::state::App;

/// After the drain timeout, how long the streams have to say that they were ended.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(2);

/// After a connection could not be accepted.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// After another connection was told to end, so that this one can be accepted.
const CLOSE_FIRST: Duration = Duration::from_millis(2);

/// Refuses what comes over connections beyond the limits.
pub(super) async fn limit_connections(
    State(app): State<App>,
    Extension(admission): Extension<Admission>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let settings = app.settings();
    match admission {
        Admission::Everything => Ok(next.run(request).await),
        Admission::Beyond(Limit::OfClient) => {
            Err(ApiError::connections_of_client(settings.max_connections_per_client()))
        }
        Admission::Beyond(Limit::OfAll) => Err(ApiError::connections(settings.max_connections())),
    }
}

/// Whether there are too many open files, of this process or of the system.
fn is_full(error: &io::Error) -> bool {
    // EMFILE and ENFILE, for which there is no kind of its own.
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

/// The connections that are open.
pub(super) struct Connections {
    app: App,
    handler: Handler,
    slots: Slots,
    /// Held by each connection, until all are closed.
    open: mpsc::Sender<Infallible>,
    all_closed: mpsc::Receiver<Infallible>,
}

impl Connections {
    pub(super) fn new(app: &App) -> Self {
        let (open, all_closed) = mpsc::channel(1);
        let slots = Slots::new(app.settings());
        Self {
            app: app.clone(),
            handler: Handler::new(app),
            slots,
            open,
            all_closed,
        }
    }

    /// Accepts the next connection, and serves it in a task of its own.
    pub(super) async fn accept(&self, listener: &TcpListener) {
        match listener.accept().await {
            Ok((stream, client)) => self.serve(stream, client),
            Err(error) => {
                tracing::warn!(error = in_words(&error), "a connection could not be accepted");
                // Its file is free in a moment.
                let wait = if is_full(&error) && self.slots.close_idlest() {
                    CLOSE_FIRST
                } else {
                    ACCEPT_AGAIN
                };
                sleep(wait).await;
            }
        }
    }

    fn serve(&self, stream: TcpStream, client: SocketAddr) {
        let Some((slot, closed)) = self.slots.take(client.ip()) else {
            tracing::debug!(%client, "too many connections: one was closed at once");
            return;
        };
        let (handler, open) = (self.handler.clone(), self.open.clone());
        tokio::spawn(async move {
            handler.serve(stream, client, slot, closed).await;
            drop(open);
        });
    }

    /// Waits for the requests that run, up to the drain timeout. Then they are ended.
    pub(super) async fn drain(self) {
        let Self { app, open, mut all_closed, .. } = self;
        drop(open);
        let patience = app.settings().drain_timeout.0;
        if timeout(patience, all_closed.recv()).await.is_ok() {
            return;
        }
        tracing::warn!("requests were still running after {} s: ended", patience.as_secs_f64());
        if let Some(service) = app.loaded() {
            service.inference.shut_down();
        }
        // Each stream ends with an error, if its client reads.
        let _ = timeout(LAST_WORDS, all_closed.recv()).await;
    }
}
