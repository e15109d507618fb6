//! Sharing work among the threads of the processor.
//!
//! Burn's `flex` gives a product to several threads only if it is large, and everything else to
//! one. What a model does for one token is made of small things, of which some can be done at
//! the same time. On every other device, and while gradients are kept, all of this does
//! nothing: there the device orders its work itself.

use burn::tensor::{Device, Tensor};
use rayon::prelude::*;

/// How many threads there are for tensors of this device.
pub fn count(device: &Device) -> usize {
    match is_flex(device) && !device.is_autodiff() {
        true => rayon::current_num_threads(),
        false => 1,
    }
}

#[cfg(feature = "flex")]
fn is_flex(device: &Device) -> bool {
    *device == Device::flex()
}

#[cfg(not(feature = "flex"))]
fn is_flex(_: &Device) -> bool {
    false
}

/// Does `work` on one of the threads. What it hands to the others, it hands over quickly: a
/// thread from outside would be put to sleep for each answer, and woken again.
pub fn enter<T: Send>(device: &Device, work: impl FnOnce() -> T + Send) -> T {
    match count(device) {
        1 => work(),
        _ => rayon::scope(|_| work()),
    }
}

/// Does `work` on each item, several at a time, and returns the results in order.
pub fn map<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Sync + Send) -> Vec<T> {
    items.into_par_iter().map(work).collect()
}

/// Does `work` on all positions of `x`, `[batch, seq, ..]`: each thread takes some of them.
/// Only for what does the same at each position and looks at no other.
pub fn by_position<const N: usize>(
    x: Tensor<3>,
    work: impl Fn(Tensor<3>) -> [Tensor<3>; N] + Sync + Send,
) -> [Tensor<3>; N] {
    /// Fewer are not worth a thread of their own: each reads all weights.
    const FEWEST: usize = 16;
    let [_, seq, _] = x.dims();
    let parts = count(&x.device()).min(seq / FEWEST);
    if parts <= 1 {
        return work(x);
    }
    let mut parts = map(x.chunk(parts, 1), work);
    std::array::from_fn(|i| {
        let column = parts.iter_mut().map(|part| part[i].clone());
        Tensor::cat(column.collect(), 1)
    })
}
