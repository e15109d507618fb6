//! The log, on standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, fmt};

use super::Settings;
use super::settings::LogFormat;

/// Starts the log. Where one was started before, that one goes on.
pub fn start_log(settings: &Settings) {
    // The filter was checked with the settings.
    let filter = EnvFilter::try_new(&settings.log.0).unwrap_or_default();
    let log = fmt().with_env_filter(filter).with_writer(io::stderr).with_target(false);
    let log = log.with_ansi(io::stderr().is_terminal());
    let _ = match settings.log_format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().try_init(),
    };
}
