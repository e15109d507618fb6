//! The residual stream.

use burn::tensor::Tensor;

use super::norm::RmsNorm;

/// The residual stream between the parts of the blocks: a sum, to which each part adds its output. What
/// was added last is kept apart until the next norm reads the sum: on a GPU addition and norm are one
/// launch.
pub(super) struct Residual {
    /// `[batch, seq, d_model]`
    sum: Tensor<3>,
    /// The shape of `sum`.
    added: Option<Tensor<3>>,
}

impl Residual {
    /// A stream that begins with the embeddings, `[batch, seq, d_model]`.
    pub(super) fn new(embeddings: Tensor<3>) -> Self {
        Self { sum: embeddings, added: None }
    }

    /// Adds the output of a part, `[batch, seq, d_model]`.
    pub(super) fn add(&mut self, output: Tensor<3>) {
        if let Some(before) = self.added.replace(output) {
            self.sum = self.sum.clone() + before;
        }
    }

    /// What was added so far: `[batch, seq, d_model]`.
    pub(super) fn sum(&mut self) -> Tensor<3> {
        self.normed(None)
    }

    /// Multiplies the sum.
    pub(super) fn scale(&mut self, scale: f64) {
        self.sum = self.sum() * scale;
    }

    /// The norm of the sum, where there is one: `[batch, seq, d_model]`.
    pub(super) fn normed(&mut self, norm: Option<&RmsNorm>) -> Tensor<3> {
        let (sum, added) = (self.sum.clone(), self.added.take());
        let [sum, normed] = match (added, norm) {
            (None, Some(norm)) => return norm.forward(sum),
            (None, None) => return sum,
            (Some(added), Some(norm)) => norm.add(sum, added),
            (Some(added), None) => {
                let sum = sum + added;
                [sum.clone(), sum]
            }
        };
        self.sum = sum;
        normed
    }
}
