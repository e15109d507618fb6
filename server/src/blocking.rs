//! Work that takes too long for a thread of the runtime.

use super::error::ApiError;

/// Runs `work` in a thread that may be kept: to tokenize a long prompt takes milliseconds, in which
/// the tasks of this thread would wait.
///
/// # Errors
/// A panic of `work`.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
}
