//! The learning rate (linear warm-up, then cosine decay) and the row length of each step.

use std::f64::consts::PI;

/// Linear warm-up to the peak, then cosine decay to a tenth of it. A function of the step alone, so
/// that a resumed run needs no further state.
pub struct Schedule {
    peak: f64,
    warm_up: usize,
    steps: usize,
}

impl Schedule {
    pub fn new(peak: f64, steps: usize) -> Self {
        let warm_up = (steps / 20).clamp(1, 200);
        Self { peak, warm_up, steps }
    }

    pub fn learning_rate(&self, step: usize) -> f64 {
        if step < self.warm_up {
            return self.peak * (step + 1) as f64 / self.warm_up as f64;
        }
        let done = (step - self.warm_up) as f64 / (self.steps - self.warm_up).max(1) as f64;
        let floor = self.peak / 10.0;
        floor + (self.peak - floor) * 0.5 * (1.0 + (PI * done.min(1.0)).cos())
    }

    // ANCHOR: row_length
    /// The row length in tokens: short at first, the full context length (`longest`) at the end.
    ///
    /// To keep track of the characters of a story, attention must find one name among all earlier
    /// tokens. It learns that much sooner among 60 tokens than among 250, and short rows are
    /// cheaper (Li et al., arXiv 2108.06084, on sequence length warm-up).
    pub fn row_length(&self, step: usize, longest: usize) -> usize {
        match step as f64 / self.steps as f64 {
            done if done < 0.2 => longest / 8,
            done if done < 0.4 => longest / 4,
            done if done < 0.8 => longest / 2,
            _ => longest,
        }
    }
    // ANCHOR_END: row_length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_grow_to_the_context() {
        let schedule = Schedule::new(1.0, 1000);
        let lengths = [0, 199, 200, 400, 799, 800, 999].map(|step| schedule.row_length(step, 512));
        assert_eq!(lengths, [64, 64, 128, 256, 256, 512, 512]);
    }

    #[test]
    fn rises_to_the_peak_and_falls_to_a_tenth() {
        let schedule = Schedule::new(1.0, 1000);
        assert_eq!(schedule.learning_rate(0), 0.02);
        assert_eq!(schedule.learning_rate(49), 1.0);
        assert_eq!(schedule.learning_rate(50), 1.0);
        assert!(schedule.learning_rate(500) < schedule.learning_rate(400));
        assert!((schedule.learning_rate(1000) - 0.1).abs() < 1e-12);
    }
}
