//! Sharing work among the threads of the processor.
//!
//! Burn's `flex` gives a product to several threads only if it is large, and everything else to
//! one. What a model does for one token is made of small things, of which some can be done at
//! the same time. All of this is for `flex` alone, and not while gradients are kept: other
//! devices order their work themselves.

use burn::tensor::{Device, Tensor};
use rayon::prelude::*;

/// Whether work on tensors of this device can be shared.
#[cfg(feature = "flex")]
pub fn can_share(device: &Device) -> bool {
    *device == Device::flex() && !device.is_autodiff()
}

/// Whether work on tensors of this device can be shared.
#[cfg(not(feature = "flex"))]
pub fn can_share(_: &Device) -> bool {
    false
}

/// Does `work` on one of the threads that share it. From there it is handed to the others
/// quickly; a thread from outside would be put to sleep for each answer, and woken again.
///
/// `multiplications` says how much work it is: for little, going there takes longer.
pub fn enter<T: Send>(
    device: &Device,
    multiplications: usize,
    work: impl FnOnce() -> T + Send,
) -> T {
    const MUCH: usize = 1 << 24;
    match multiplications >= MUCH && can_share(device) {
        true => rayon::scope(|_| work()),
        false => work(),
    }
}

/// Does `work` on each item, several at a time, and returns the results in order.
pub fn map<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Sync + Send) -> Vec<T> {
    items.into_par_iter().map(work).collect()
}

/// Does `work` on all positions of `x`, `[batch, seq, d]`: each thread takes some of them. Only
/// for what does the same at each position and looks at no other.
pub fn by_position(x: Tensor<3>, work: impl Fn(Tensor<3>) -> Tensor<3> + Sync + Send) -> Tensor<3> {
    /// Fewer are not worth a thread of their own: each reads all weights.
    const FEWEST: usize = 16;
    let [_, seq, _] = x.dims();
    if seq < 2 * FEWEST || !can_share(&x.device()) {
        return work(x);
    }
    let parts = rayon::current_num_threads().min(seq / FEWEST);
    Tensor::cat(map(x.chunk(parts, 1), work), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many threads there are, and also where the parts are not equally long.
    #[test]
    fn every_position_stays_in_its_place() {
        let device = Device::default();
        for seq in [1, 31, 32, 33, 100] {
            let x = Tensor::<1, burn::tensor::Int>::arange(0..2 * seq * 3, &device)
                .float()
                .reshape([2, seq as usize, 3]);
            let found = by_position(x.clone(), |part| part * 2 + 1);
            assert_eq!(found.dims(), x.dims());
            found.to_data().assert_eq(&(x * 2 + 1).to_data(), true);
        }
    }

    #[test]
    fn work_is_done_on_either_side() {
        for multiplications in [0, usize::MAX] {
            assert_eq!(enter(&Device::default(), multiplications, || 7), 7);
        }
    }
}
