//! The greatest score of each tile, also where an earlier one was greater.

pub struct Running {
    greatest: f32,
    sum: f32,
    weighted: Vec<f32>,
}

impl Running {
    pub fn new(head_dim: usize) -> Self {
        Self {
            greatest: f32::NEG_INFINITY,
            sum: 0.0,
            weighted: vec![0.0; head_dim],
        }
    }

    pub fn push(&mut self, scores: &[f32], values: &[Vec<f32>]) {
        let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if greatest == f32::NEG_INFINITY {
            return;
        }
        let scale = (self.greatest - greatest).exp();
        self.greatest = greatest;
        self.sum *= scale;
        self.weighted.iter_mut().for_each(|number| *number *= scale);
        for (score, value) in scores.iter().zip(values) {
            let weight = (score - greatest).exp();
            self.sum += weight;
            for (total, number) in self.weighted.iter_mut().zip(value) {
                *total += weight * number;
            }
        }
    }

    pub fn mean(&self) -> Vec<f32> {
        self.weighted.iter().map(|number| number / self.sum).collect()
    }
}
