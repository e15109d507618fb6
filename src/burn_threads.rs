//! The threads of `rayon`, on which Burn's CPU backends share their work.

use crate::error::Result;

/// Starts these threads, unless this program has done that already. Rayon would start them where
/// they are first needed, and panic where the system grants none.
///
/// # Errors
/// A system that grants no more threads.
#[cfg(not(target_family = "wasm"))]
pub fn start() -> Result<()> {
    use std::error::Error as _;
    use std::sync::OnceLock;

    // Rayon tries once. The answer stays for those who ask later.
    static REFUSAL: OnceLock<Option<String>> = OnceLock::new();
    let refusal = REFUSAL.get_or_init(|| {
        let error = rayon::ThreadPoolBuilder::new().build_global().err()?;
        // An error without a source says that somebody else has started them.
        error.source().map(ToString::to_string)
    });
    match refusal {
        None => Ok(()),
        Some(reason) => Err(crate::Error::Threads { reason: reason.clone() }),
    }
}

/// Where there are no threads, rayon does the work on the one that asks.
#[cfg(target_family = "wasm")]
pub fn start() -> Result<()> {
    Ok(())
}
