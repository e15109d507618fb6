//! Threads that others come before, and the time that they get.

use std::time::Duration;

/// Lets all other threads come before this one, as far as the system can: while they have work, this one gets
/// little of a core. Nothing else works so well for what takes long: a step uses all cores, and each of its
/// parts waits for the slowest.
pub(crate) fn lower() {
    #[cfg(target_os = "linux")]
    {
        /// A thread that is 10 lower gets a tenth of what others get.
        const LOWER: libc::c_int = 10;
        // SAFETY: both take numbers only. 0 stands for the calling thread. Where they fail, the thread keeps its
        // priority: the system lets a program lower its own, and takes 19 for what is below that.
        unsafe {
            let now = libc::getpriority(libc::PRIO_PROCESS, 0);
            libc::setpriority(libc::PRIO_PROCESS, 0, now + LOWER);
        }
    }
}

/// The time that this thread has computed, which does not grow while others are computing. Elsewhere than on
/// Linux, the time that has passed.
pub(crate) fn time() -> Duration {
    #[cfg(target_os = "linux")]
    {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: it writes to a time that is there.
        if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } == 0 {
            let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
            return Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanoseconds);
        }
    }
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
