//! Online softmax: attention one tile after the other, without a row of all scores.

/// What you know about one query after some tiles.
pub struct Running {
    /// The greatest score so far; minus infinity before the first.
    greatest: f32,
    /// The sum of `exp(score - greatest)`.
    sum: f32,
    /// The sum of the values, each times its `exp(score - greatest)`: `[head_dim]`.
    weighted: Vec<f32>,
}

impl Running {
    /// No tile yet.
    pub fn new(head_dim: usize) -> Self {
        Self {
            greatest: f32::NEG_INFINITY,
            sum: 0.0,
            weighted: vec![0.0; head_dim],
        }
    }

    /// A row of all scores would take memory that grows with the text. Online softmax does without
    /// it: take in the next tile, and keep a running result. `scores` is `[positions]`, `values` is
    /// `[positions][head_dim]`.
    ///
    /// - Keep nothing of a tile but what the fields hold. You may add single numbers to the fields,
    ///   16 bytes of them, and no list.
    /// - If a tile holds a greater score than all before, your sums so far are relative to the old
    ///   one, and have to be scaled down.
    /// - A score of minus infinity is a position that must not be seen; its value is finite. There
    ///   may be tiles with nothing else, and the first tile may be one of them: they change
    ///   nothing.
    /// - Scores may be larger than `exp` can take, such as 1,000.
    ///
    /// ```text
    /// scores 0 0       values 1 3      greatest 0       sum 2           weighted 4
    /// scores ln 2      values 8        greatest ln 2    sum 2 / 2 + 1   weighted 4 / 2 + 8
    /// mean 10 / 2 = 5
    /// ```
    pub fn push(&mut self, scores: &[f32], values: &[Vec<f32>]) {
        todo!()
    }

    /// The mean of all values, weighted by the softmax of all scores. At least one score was
    /// finite.
    pub fn mean(&self) -> Vec<f32> {
        todo!()
    }
}
