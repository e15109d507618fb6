//! Opening devices leaves the rest of the program alone.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use slowburn::device::{self, DeviceChoice};

/// The panic hook belongs to the whole process: another thread's panic must reach it, whatever
/// device is being tried at that moment.
#[test]
fn a_panic_hook_misses_nothing_while_devices_are_opened() {
    const PANICS: usize = 2000;
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {
        SEEN.fetch_add(1, Ordering::Relaxed);
    }));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                device::open(DeviceChoice::Auto).unwrap();
            }
        });
        for _ in 0..PANICS {
            catch_unwind(|| panic!("seen")).unwrap_err();
        }
        done.store(true, Ordering::Relaxed);
    });
    std::panic::set_hook(hook);
    assert_eq!(SEEN.load(Ordering::Relaxed), PANICS);
}
