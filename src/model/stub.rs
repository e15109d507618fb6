//! A network that a caller brings.
//!
//! The engine, the generation loops and the requests are the same code with it as with weights, and whoever
//! tests or simulates them decides what the logits are.

use std::fmt;

use super::pass::Pass;
use crate::error::Result;

/// Gives the logits after `tokens`, `[vocab]`, which follow `position` earlier ones.
type Logits = dyn Fn(&[u32], usize) -> Result<Vec<f32>> + Send + Sync;

/// A network of a function.
pub(super) struct Stub(pub(super) Box<Logits>);

impl Stub {
    /// The logits of the `wanted` columns of a row of token ids.
    ///
    /// # Errors
    /// Those of the network.
    pub(super) fn rows(
        &self,
        row: &[u32],
        wanted: &[usize],
        pass: &Pass<'_>,
    ) -> Result<Vec<Vec<f32>>> {
        let logits = |&column: &usize| {
            let (first, position) = pass.sequence_of(column);
            (self.0)(&row[first..=column], position)
        };
        wanted.iter().map(logits).collect()
    }
}

impl fmt::Debug for Stub {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Stub")
    }
}
