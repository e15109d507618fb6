//! The server: its address, its model, and its end.

use std::future::Future;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::pin;

use slowburn::outside::in_words;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::connections::{Connections, LAST_WORDS};
use super::service::Service;
use super::signals::Signals;
use super::state::App;
use super::{Settings, SettingsError, free_memory, open_files};

/// The most connections that may wait to be accepted. The system has a limit of its own, and takes
/// the smaller one.
const BACKLOG: u32 = i32::MAX as u32;

/// A failure of the server as a whole.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    #[error(transparent)]
    Settings(#[from] SettingsError),

    #[error(
        "cannot listen at {address}: {source}; is another server there? --port takes another",
        source = in_words(.source)
    )]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },

    #[error("cannot start the threads of the server: {reason}", reason = in_words(.0))]
    Runtime(#[source] io::Error),

    #[error(
        "cannot wait for signals, which would end the server: {reason}",
        reason = in_words(.0)
    )]
    Signals(#[source] io::Error),

    #[error(transparent)]
    Model(#[from] slowburn_flags::Error),
}

impl ServerError {
    /// The exit code: 2 for settings, 1 for all other errors.
    pub fn exit_code(&self) -> u8 {
        match self {
            ServerError::Settings(_) => 2,
            ServerError::Model(error) => error.exit_code(),
            _ => 1,
        }
    }
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
        let listener = listen(address).map_err(failed)?;
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
        let connections = Connections::new(&app);
        let mut loading = load(&app);
        let mut shutdown = pin!(shutdown);
        let mut tidying = pin!(free_memory::give_back(app.clone()));
        loop {
            tokio::select! {
                () = &mut shutdown => break,
                outcome = &mut loading, if app.loaded().is_none() => match outcome {
                    Ok(service) => app.open(service?),
                    Err(panic) => std::panic::resume_unwind(panic.into_panic()),
                },
                () = connections.accept(&listener) => {}
                () = &mut tidying => {}
            }
        }
        drop(listener);
        app.drain();
        connections.drain().await;
        if let Some(service) = app.loaded() {
            app.settings().model.report_blocks(service.pretrained.model.kv_pool());
        }
        Ok(())
    }
    // ANCHOR_END: run
}

/// Takes an address.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // On Windows, two servers could take the same address with it.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Loads the model in a thread of its own.
fn load(app: &App) -> JoinHandle<slowburn_flags::Result<Service>> {
    let app = app.clone();
    tokio::task::spawn_blocking(move || Service::load(app.settings()))
}

/// Serves until SIGINT or SIGTERM. A second one ends the wait for requests that run. Prints the
/// address to standard output.
///
/// # Errors
/// Settings, an address or a model that cannot be used.
pub fn serve(mut settings: Settings) -> Result<(), ServerError> {
    free_memory::use_one_arena();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        // The cores are for the model. A token is little work for the server.
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(ServerError::Runtime)?;
    let outcome = runtime.block_on(async {
        // Whoever reads the address may send a signal at once.
        let mut signals = Signals::listen().map_err(ServerError::Signals)?;
        open_files::allow(&mut settings);
        let name = settings.served_name();
        let server = Server::bind(settings).await?;
        // Nobody has to read it.
        let _ = writeln!(io::stdout(), "serving {name} at http://{}", server.address());
        let (shut_down, told) = oneshot::channel();
        tokio::select! {
            outcome = server.run(async { let _ = told.await; }) => outcome,
            () = async {
                signals.next().await;
                let _ = shut_down.send(());
                signals.next().await;
            } => Ok(()),
        }
    });
    runtime.shutdown_timeout(LAST_WORDS);
    outcome
}
