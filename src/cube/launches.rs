//! How many kernels were launched.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use burn_cubecl::cubecl::logging::{LaunchObservation, LaunchObserver};

static LAUNCHES: AtomicU64 = AtomicU64::new(0);

struct Counter;

impl LaunchObserver for Counter {
    fn launched(&self, _kernel: &'static str) {
        LAUNCHES.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts the launches of this process from now on. That costs an atomic addition for each.
pub(crate) fn start() {
    static WATCHING: OnceLock<LaunchObservation> = OnceLock::new();
    WATCHING.get_or_init(|| LaunchObservation::new(Arc::new(Counter)));
}

/// Counts `recorded` launches less, which were recorded and not computed.
pub(super) fn recorded(recorded: u64) {
    LAUNCHES.fetch_sub(recorded, Ordering::Relaxed);
}

/// Counts `replayed` launches more.
pub(super) fn replayed(replayed: u64) {
    LAUNCHES.fetch_add(replayed, Ordering::Relaxed);
}

/// How many kernels were launched since [`start`], of this crate and of Burn. Each of a recording counts whenever it is
/// replayed.
pub(crate) fn count() -> u64 {
    LAUNCHES.load(Ordering::Relaxed)
}
