//! Memory that grammars took and freed goes back to the system.
//!
//! An allocator keeps what is freed for the next allocation. But a grammar may take tens of megabytes,
//! and the next one may come tomorrow.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::blocking::blocking;
use super::state::App;

/// How often it is seen to. An allocation may wait for it for some milliseconds.
const INTERVAL: Duration = Duration::from_secs(10);

/// Gives memory back whenever grammars have been compiled and no sequence is left. Never ends.
pub(super) async fn give_back(app: App) {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Some(service) = app.loaded().filter(|it| it.has_compiled.load(Ordering::Relaxed)) {
            let service = service.clone();
            let _ = blocking(move || {
                if service.inference.load().is_ok_and(|load| load.running + load.waiting == 0) {
                    service.has_compiled.store(false, Ordering::Relaxed);
                    trim();
                }
            })
            .await;
        }
    }
}

/// Other systems than those with GNU's allocator see to it themselves, or cannot be asked.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    // SAFETY: it may be called at any time, from any thread.
    unsafe { libc::malloc_trim(0) };
}
