//! The time that a request has, from when it was read to its end.

use std::cell::OnceCell;
use std::future::Future;
use std::time::{Duration, Instant};

tokio::task_local! {
    /// When the request of this task was read.
    static READ: OnceCell<Instant>;
}

/// Answers a request, and remembers meanwhile when it was read.
pub(super) async fn keep<T>(answer: impl Future<Output = T>) -> T {
    READ.scope(OnceCell::new(), answer).await
}

/// The time of a request begins: it was read.
pub(super) fn begin() {
    // Outside of a request, nothing is kept.
    let _ = READ.try_with(|read| *read.get_or_init(Instant::now));
}

/// What is left of `limit`: at least a moment, after which the time is up.
pub(super) fn left(limit: Duration) -> Duration {
    begin();
    let passed = READ.try_with(|read| read.get().map_or(Duration::ZERO, Instant::elapsed));
    limit.saturating_sub(passed.unwrap_or_default()).max(Duration::from_nanos(1))
}
