//! How many files the process may have open: each connection is one.

use super::Settings;
use super::slots::SURPLUS;

/// Files that are no connections.
const OTHERS: u64 = 64;

/// Asks the system for as many as the settings need. Many systems begin with 1,024, and allow more
/// to whoever asks.
pub(super) fn allow(settings: &Settings) {
    let needed = settings.max_connections + SURPLUS as u64 + OTHERS;
    let allowed = match rlimit::increase_nofile_limit(needed) {
        Ok(allowed) if allowed >= needed => return,
        Ok(allowed) => allowed.to_string(),
        Err(error) => error.to_string(),
    };
    tracing::warn!(
        allowed,
        needed,
        "the system allows too few open files for max_connections: `ulimit -n` changes it"
    );
}
