//! A model without weights, for exercises about the loop around a model.

/// The number of logits.
const VOCAB: u32 = 11;

/// Its logits depend on every token that it has read and on the position at which it read it, as
/// those of a model with a KV cache do. It remembers each pass.
#[derive(Default)]
pub struct ToyModel {
    read: Vec<(u32, usize)>,
    passes: Vec<(Vec<u32>, usize)>,
}

impl ToyModel {
    /// Reads new tokens, the first of them at position `start`, and gives the logits `[vocab]`
    /// after the last.
    pub fn forward(&mut self, tokens: &[u32], start: usize) -> Vec<f32> {
        self.passes.push((tokens.to_vec(), start));
        self.read.extend(tokens.iter().copied().zip(start..));
        (0..VOCAB).map(|id| self.logit(id)).collect()
    }

    /// The tokens and the start of each pass.
    pub fn passes(&self) -> Vec<(Vec<u32>, usize)> {
        self.passes.clone()
    }

    fn logit(&self, id: u32) -> f32 {
        let part = |&(token, position): &(u32, usize)| {
            let angle = 0.37 * (token + 1) as f32 * (id + 2) as f32;
            (angle + 0.61 * position as f32 * (id + 1) as f32).sin()
        };
        self.read.iter().map(part).sum()
    }
}
