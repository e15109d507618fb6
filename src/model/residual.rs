//! Residual connections: what a layer computes is added to what it was given.

use burn::tensor::Tensor;

use crate::kernels;

// ANCHOR: residual
/// `x + y`, both `[batch, seq, d_model]` (He et al., arXiv 1512.03385).
pub fn residual(x: Tensor<3>, y: Tensor<3>) -> Tensor<3> {
    if kernels::serve(&x.device()) {
        return kernels::tensor::add(x, y);
    }
    x + y
}
// ANCHOR_END: residual
