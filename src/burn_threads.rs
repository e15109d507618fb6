//! The `rayon` thread pool of Burn's CPU backends.

use crate::error::Result;

/// Starts the thread pool, unless the program has done so. Rayon would start it on first use, and
/// panic if the system cannot start threads.
///
/// # Errors
/// The system cannot start another thread.
#[cfg(not(target_family = "wasm"))]
pub fn start() -> Result<()> {
    use std::error::Error as _;
    use std::sync::OnceLock;

    // Rayon tries only once, so its answer is kept for later calls.
    static REFUSAL: OnceLock<Option<String>> = OnceLock::new();
    let refusal = REFUSAL.get_or_init(|| {
        let error = rayon::ThreadPoolBuilder::new().build_global().err()?;
        // An error without a source means that the pool exists already.
        error.source().map(ToString::to_string)
    });
    match refusal {
        None => Ok(()),
        Some(reason) => Err(crate::ServiceError::Threads { reason: reason.clone() }.into()),
    }
}

/// Without threads, rayon runs the work on the calling thread.
#[cfg(target_family = "wasm")]
pub fn start() -> Result<()> {
    Ok(())
}
