//! The memory that is really available.
//!
//! Where the system overcommits memory, a large allocation succeeds, and writing to it ends the
//! process. So large allocations are checked here first.

/// Whether `bytes` more bytes of memory can be used.
///
/// Where the system does not report its available memory, a trial allocation decides.
pub(crate) fn fits(bytes: u128) -> bool {
    match available() {
        Some(available) => bytes <= u128::from(available),
        None => usize::try_from(bytes).is_ok_and(is_promised),
    }
}

/// The memory that is left to this process, in bytes, where the system reports it.
#[cfg(target_os = "linux")]
pub(crate) fn available() -> Option<u64> {
    linux::available(std::path::Path::new("/"))
}

/// The memory that is left to this process, in bytes, where the system reports it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn available() -> Option<u64> {
    None
}

fn is_promised(bytes: usize) -> bool {
    let mut memory = Vec::<u8>::new();
    let promised = memory.try_reserve_exact(bytes).is_ok();
    // An unused allocation may be optimised away.
    std::hint::black_box(memory);
    promised
}

#[cfg(target_os = "linux")]
mod linux;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_fits_and_more_than_any_machine_has_does_not() {
        assert!(fits(1 << 16));
        assert!(!fits(1 << 60));
        assert!(!fits(u128::MAX));
        assert!(is_promised(1 << 16));
        assert!(!is_promised(usize::MAX));
    }
}
