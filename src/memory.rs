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

/// Whether `bytes` more bytes of address space can be reserved, where the system limits it. What is
/// reserved and never used counts there too.
#[cfg(feature = "burn")]
pub(crate) fn fits_into_addresses(bytes: u128) -> bool {
    addresses().is_none_or(|left| bytes <= u128::from(left))
}

/// The address space that is left to this process, in bytes, where it has a limit.
#[cfg(feature = "burn")]
fn addresses() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return linux::address_space(std::path::Path::new("/"));
    #[cfg(not(target_os = "linux"))]
    None
}

/// The memory that is left to this process, in bytes, where the system reports it.
pub(crate) fn available() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return linux::available(std::path::Path::new("/"));
    #[cfg(not(target_os = "linux"))]
    None
}

/// Whether the system gives out so much memory at once, which it may not have.
pub(crate) fn is_promised(bytes: usize) -> bool {
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
