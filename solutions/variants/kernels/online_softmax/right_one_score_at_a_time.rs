//! Each score is a tile of its own.

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
        for (&score, value) in scores.iter().zip(values) {
            if score == f32::NEG_INFINITY {
                continue;
            }
            let greatest = self.greatest.max(score);
            let (scale, weight) = ((self.greatest - greatest).exp(), (score - greatest).exp());
            self.greatest = greatest;
            self.sum = self.sum * scale + weight;
            for (total, number) in self.weighted.iter_mut().zip(value) {
                *total = *total * scale + weight * number;
            }
        }
    }

    pub fn mean(&self) -> Vec<f32> {
        let scale = 1.0 / self.sum;
        self.weighted.iter().map(|number| number * scale).collect()
    }
}
