//! How much memory there really is.
//!
//! An allocation is only a promise: a system that gives out more than it has ends the whole
//! program where the memory is written to. So whoever is about to fill much of it asks here first.

/// Whether so many more bytes can be filled.
///
/// Where the system does not say how much there is, it is asked to promise that much.
pub(crate) fn fits(bytes: u128) -> bool {
    match available() {
        Some(available) => bytes <= u128::from(available),
        None => usize::try_from(bytes).is_ok_and(is_promised),
    }
}

/// How many more bytes this process can fill, where the system tells.
#[cfg(target_os = "linux")]
pub(crate) fn available() -> Option<u64> {
    linux::available(std::path::Path::new("/"))
}

/// How many more bytes this process can fill, where the system tells.
#[cfg(not(target_os = "linux"))]
pub(crate) fn available() -> Option<u64> {
    None
}

fn is_promised(bytes: usize) -> bool {
    let mut memory = Vec::<u8>::new();
    let promised = memory.try_reserve_exact(bytes).is_ok();
    // Memory that nobody looks at may be optimised away, and the question with it.
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
