//! The server: connections, the time limits on them, and the end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use super::routes::router;
use super::service::Service;
use super::state::App;
use super::{Settings, SettingsError};
use crate::cli;

/// The bytes of a connection that wait to be sent, or the longest head of a request.
const BUFFER: usize = 64 << 10;

/// After the drain timeout, how long the streams have to say that they were ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// After a connection could not be accepted, because the process has too many open files perhaps.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// A failure of the server as a whole.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    Settings(#[from] SettingsError),

    #[error("cannot listen at {address}: {source}; is another server there? --port takes another")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },

    #[error("cannot start the threads of the server: {0}")]
    Runtime(#[source] io::Error),

    #[error(transparent)]
    Model(#[from] cli::Error),
}

/// A server that listens, and serves once it is run.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
}

impl Server {
    /// Takes the address of the settings.
    ///
    /// # Errors
    /// Settings that contradict each other; an address that cannot be taken.
    pub async fn bind(settings: Settings) -> Result<Self, ServerError> {
        settings.check()?;
        let address = settings.address();
        let failed = |source| ServerError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, app: App::new(settings) })
    }

    /// Where the server listens. Port 0 of the settings has become the port that was free.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    // ANCHOR: run
    /// Loads the model and serves until `shutdown` is ready. Then new requests are refused, and
    /// those that run have the drain timeout to end. While the model is loaded, requests are
    /// answered with 503.
    ///
    /// # Errors
    /// A model that cannot be loaded.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ServerError> {
        let Self { listener, app, .. } = self;
        let mut connections = Connections::new(&app);
        let mut loading = load(&app);
        let mut shutdown = pin!(shutdown);
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                outcome = &mut loading, if app.loaded().is_none() => match outcome {
                    Ok(service) => app.open(service?),
                    Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                },
                (stream, client) = connections.accept(&listener) => {
                    connections.serve(stream, client);
                }
            }
        }
        drop(listener);
        app.drain();
        connections.drain(&app).await;
        if let Some(service) = app.loaded() {
            app.settings().model.report_blocks(service.pretrained.model.kv_pool());
        }
        Ok(())
    }
    // ANCHOR_END: run
}

/// Loads the model in a thread of its own.
fn load(app: &App) -> JoinHandle<cli::Result<Service>> {
    let app = app.clone();
    tokio::task::spawn_blocking(move || Service::load(app.settings()))
}

/// The connections that are open.
struct Connections {
    router: Router,
    http: http1::Builder,
    slots: Arc<Semaphore>,
    /// The slot of the next connection.
    slot: Option<OwnedSemaphorePermit>,
    graceful: GracefulShutdown,
    write_timeout: Duration,
}

impl Connections {
    fn new(app: &App) -> Self {
        let settings = app.settings();
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(settings.read_timeout())
            // What is written and not sent: without a bound, it would hold hundreds of kilobytes
            // for a client that reads slowly.
            .max_buf_size(BUFFER);
        let slots = usize::try_from(settings.max_connections).unwrap_or(usize::MAX);
        Self {
            router: router(app),
            http,
            slots: Arc::new(Semaphore::new(slots.min(Semaphore::MAX_PERMITS))),
            slot: None,
            graceful: GracefulShutdown::new(),
            write_timeout: settings.write_timeout.0,
        }
    }

    /// The next connection, once there is a slot for it. Until then, clients wait in the queue of
    /// the system.
    async fn accept(&mut self, listener: &TcpListener) -> (TcpStream, SocketAddr) {
        loop {
            if self.slot.is_none() {
                self.slot = self.slots.clone().acquire_owned().await.ok();
            }
            match listener.accept().await {
                Ok(accepted) => return accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(ACCEPT_AGAIN).await;
                }
            }
        }
    }

    /// Serves a connection in a task of its own.
    fn serve(&mut self, stream: TcpStream, client: SocketAddr) {
        let slot = self.slot.take();
        // Each token is an event, and goes out at once.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        let mut stream = TimeoutStream::new(stream);
        // Without it, a client that reads nothing would keep its connection for ever.
        stream.set_write_timeout(Some(self.write_timeout));
        let router = self.router.clone();
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(client));
            router.clone().oneshot(request)
        });
        let connection = self.http.serve_connection(TokioIo::new(Box::pin(stream)), service);
        let connection = self.graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, %client, "a connection has broken");
            }
            drop(slot);
        });
    }

    /// Waits for the requests that run, up to the drain timeout. Then they are ended.
    async fn drain(self, app: &App) {
        let patience = app.settings().drain_timeout.0;
        let mut ended = pin!(self.graceful.shutdown());
        if timeout(patience, &mut ended).await.is_ok() {
            return;
        }
        tracing::warn!("requests were still running after {} s: ended", patience.as_secs_f64());
        if let Some(service) = app.loaded() {
            service.inference.shut_down();
        }
        // Each stream ends with an error, if its client reads.
        let _ = timeout(LAST_WORDS, &mut ended).await;
    }
}

/// Serves until SIGINT or SIGTERM. A second one ends the wait for requests that run. Prints the
/// address to standard output.
///
/// # Errors
/// Settings, an address or a model that cannot be used.
pub fn serve(settings: Settings) -> Result<(), ServerError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // The cores are for the model. A token is little work for the server.
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(ServerError::Runtime)?;
    let outcome = runtime.block_on(async {
        let name = settings.served_name();
        let server = Server::bind(settings).await?;
        println!("serving {name} at http://{}", server.address());
        tokio::select! {
            outcome = server.run(signal()) => outcome,
            () = async { signal().await; signal().await } => Ok(()),
        }
    });
    runtime.shutdown_timeout(LAST_WORDS);
    outcome
}

/// Waits for SIGINT or SIGTERM.
#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = async |kind| match signal(kind) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(error) => {
            tracing::warn!(%error, "a signal cannot be waited for");
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => {}
        () = wait(SignalKind::terminate()) => {}
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
