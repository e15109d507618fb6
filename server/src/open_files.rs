//! How many files the process may have open: each connection is one.

use slowburn::outside::in_words;

use super::Settings;
use super::slots::surplus;

/// Files that are no connections.
const OTHERS: u64 = 64;

/// Asks the system for as many as the settings need. Many systems begin with 1,024, and allow more
/// to whoever asks. Where the system allows too few, the settings are lowered: at the limit, the next
/// connection could not be accepted, whoever it is from, and none would be closed in its favour.
pub(super) fn allow(settings: &mut Settings) {
    let wanted = settings.max_connections;
    let needed = wanted.saturating_add(surplus(settings.max_connections()) as u64 + OTHERS);
    let allowed = match rlimit::increase_nofile_limit(needed) {
        Ok(allowed) if allowed >= needed => return,
        Ok(allowed) => allowed,
        Err(error) => {
            let reason = in_words(&error);
            tracing::warn!(reason, "the limit on open files is not known: `ulimit -n` shows it");
            return;
        }
    };
    settings.max_connections = wanted.min(most_connections(allowed));
    tracing::warn!(
        allowed,
        needed,
        max_connections = settings.max_connections,
        "the system allows too few open files, so that max_connections is lowered: `ulimit -n` changes it"
    );
}

/// So many connections fit, with those beyond the limits, where so many files may be open.
fn most_connections(files: u64) -> u64 {
    let room = files - OTHERS.min(files / 2);
    // As many again are beyond the limits, but at most 64.
    room.saturating_sub(64).max(room / 2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_other_files_fit_into_the_limit() {
        for (files, connections) in [(0, 1), (16, 4), (64, 16), (256, 128), (1024, 896)] {
            assert_eq!(most_connections(files), connections, "{files}");
        }
    }
}
