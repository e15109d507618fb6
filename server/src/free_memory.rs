//! Memory that grammars took and freed goes back to the system.
//!
//! An allocator keeps what is freed for the next allocation. But a grammar may take tens of megabytes,
//! and the next one may come tomorrow.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::blocking::blocking;
use super::service::{COMPILE_TURNS, Service};
use super::state::App;

/// Lets all threads take their memory from one arena. By default GNU's allocator has up to eight for each core, and
/// what one thread has freed is of no use to the threads of another arena: after a hundred large grammars, 90 MB
/// stayed that nobody used, with one arena 13 MB. Call it before there are threads; [`serve`](super::serve) does.
pub fn use_one_arena() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes numbers only. Where it fails, there are more arenas.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// How often it is seen to. An allocation may wait for it for some milliseconds.
const INTERVAL: Duration = Duration::from_secs(10);

/// Gives memory back whenever grammars were compiled or used, none is being compiled, and no sequence is left.
/// Never ends.
pub(super) async fn give_back(app: App) {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Some(service) = app.loaded().filter(|it| it.has_used_grammar.load(Ordering::Relaxed))
        {
            let service = service.clone();
            let _ = blocking(move || {
                if may_give_back(&service) {
                    service.has_used_grammar.store(false, Ordering::Relaxed);
                    trim();
                }
            })
            .await;
        }
    }
}

/// Whether nobody holds or takes memory for a grammar.
fn may_give_back(service: &Service) -> bool {
    let compiles = service.compile_turns.available_permits() < COMPILE_TURNS;
    !compiles && service.inference.load().is_ok_and(|load| load.is_idle())
}

/// Other systems than those with GNU's allocator see to it themselves, or cannot be asked.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    // SAFETY: it may be called at any time, from any thread.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    #[test]
    fn nothing_is_given_back_while_a_grammar_is_compiled() {
        let settings = Settings::load(["test".into()]).unwrap();
        let service = Service::load(&settings).unwrap();
        let turn = service.compile_turns.clone().try_acquire_owned().unwrap();
        assert!(!may_give_back(&service));
        drop(turn);
        assert!(may_give_back(&service));
    }
}
