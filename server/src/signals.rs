//! SIGINT and SIGTERM.

use std::io;

#[cfg(unix)]
use tokio::signal::unix as system;
#[cfg(not(unix))]
use tokio::signal::windows as system;

/// The signals that end the server. From when there is one of these, none is lost, and none ends
/// the process by itself.
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: system::Signal,
    #[cfg(unix)]
    terminate: system::Signal,
    #[cfg(not(unix))]
    interrupt: system::CtrlC,
}

impl Signals {
    #[cfg(unix)]
    pub(super) fn listen() -> io::Result<Self> {
        use system::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        Ok(Self { interrupt, terminate })
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: system::ctrl_c()? })
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        self.interrupt.recv().await;
    }
}
