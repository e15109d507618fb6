//! Threads that others come before.

/// Lets all other threads come before this one, as far as the system can: while they have work, this one gets
/// little of a core. Nothing else works so well for what takes long: a step uses all cores, and each of its
/// parts waits for the slowest.
pub(crate) fn lower() {
    #[cfg(target_os = "linux")]
    {
        /// The lowest is 19. With 10, it gets a tenth of what others get.
        const NICE: libc::c_int = 10;
        // SAFETY: it takes three numbers. 0 stands for the calling thread. If it fails, the thread keeps its
        // priority.
        unsafe {
            libc::setpriority(libc::PRIO_PROCESS, 0, NICE);
        }
    }
}
