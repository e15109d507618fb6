//! Threads that others come before.

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
