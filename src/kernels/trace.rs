//! A trace of the kernel calls in a forward pass, with cost and time.

use std::cell::RefCell;
use std::iter::Sum;
use std::time::{Duration, Instant};

/// The kind of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Embedding,
    Norm,
    /// One or several matrices, multiplied with the same rows.
    Linear,
    Rotation,
    Attention,
    /// A layer that keeps a state of a sequence instead of keys and values.
    State,
    Activation,
}

/// The least work of a kernel, independent of its implementation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes that the kernel must read or write at least once: weights, keys, values, rows.
    pub bytes: u64,
    /// Floating-point operations. A fused multiply-add counts as two.
    pub flops: u64,
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |sum, cost| Self {
            bytes: sum.bytes + cost.bytes,
            flops: sum.flops + cost.flops,
        })
    }
}

/// One call of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub operation: Operation,
    pub cost: Cost,
    pub time: Duration,
}

thread_local! {
    static CALLS: RefCell<Option<Vec<Call>>> = const { RefCell::new(None) };
}

/// Runs `work`, and returns its result with the kernel calls that this thread made, in order.
pub fn record<T>(work: impl FnOnce() -> T) -> (T, Vec<Call>) {
    /// Ends the recording, also where `work` panics.
    struct Recording;
    impl Drop for Recording {
        fn drop(&mut self) {
            CALLS.take();
        }
    }
    CALLS.set(Some(Vec::new()));
    let _recording = Recording;
    let result = work();
    (result, CALLS.take().unwrap_or_default())
}

/// Calls a kernel, and records the call during a [`record`]. Otherwise no clock is read.
pub(super) fn call<T>(
    operation: Operation,
    cost: impl FnOnce() -> Cost,
    kernel: impl FnOnce() -> T,
) -> T {
    if CALLS.with_borrow(Option::is_none) {
        return kernel();
    }
    let start = Instant::now();
    let result = kernel();
    let call = Call { operation, cost: cost(), time: start.elapsed() };
    CALLS.with_borrow_mut(|calls| {
        if let Some(calls) = calls {
            calls.push(call);
        }
    });
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_recorded_where_somebody_asks() {
        let double = |x: u64| call(Operation::Norm, || Cost { bytes: x, flops: 1 }, || 2 * x);
        assert_eq!(double(3), 6);
        let (result, calls) = record(|| double(4) + double(5));
        assert_eq!(result, 18);
        let costs: Vec<_> = calls.iter().map(|call| call.cost.bytes).collect();
        assert_eq!(costs, [4, 5]);
        assert_eq!(record(|| ()).1.len(), 0);
    }

    #[test]
    fn a_panic_ends_the_recording() {
        let panicked = std::panic::catch_unwind(|| record(|| panic!("for the test")));
        assert!(panicked.is_err());
        assert!(CALLS.with_borrow(Option::is_none));
    }
}
