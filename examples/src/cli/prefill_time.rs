//! The time that a prompt token takes in a run.

use std::time::Duration;

use slowburn::engine::{Decision, Entry};

/// Measured over the steps of a run that read prompts and decode nothing. The scheduler has no
/// clock: whoever runs the steps measures them.
#[derive(Debug, Clone, Copy, Default)]
pub struct PrefillTime {
    time: Duration,
    tokens: usize,
}

impl PrefillTime {
    /// Takes note of a step and of the time that it took.
    pub fn add(&mut self, decisions: &[Decision], time: Duration) {
        let decodes = |decision: &Decision| matches!(decision, Decision::Decode { .. });
        if !decisions.iter().any(decodes) {
            self.tokens += prompt_tokens(decisions);
            self.time += time;
        }
    }

    /// From the record of a run, and the time of its first token: nothing decodes before that.
    pub fn until_first_token(record: &[Entry], time: Duration) -> Self {
        let mut tokens = 0;
        for entry in record {
            match entry {
                Entry::Step { decisions } => tokens += prompt_tokens(decisions),
                Entry::Logits { .. } => break,
                _ => {}
            }
        }
        Self { time, tokens }
    }

    /// The time that so many more prompt tokens would have taken. None if none was measured.
    pub fn of(&self, tokens: usize) -> Option<Duration> {
        (self.tokens > 0).then(|| self.time.mul_f64(tokens as f64 / self.tokens as f64))
    }
}

fn prompt_tokens(decisions: &[Decision]) -> usize {
    let read = |decision: &Decision| match decision {
        Decision::Prefill { tokens, .. } => *tokens,
        _ => 0,
    };
    decisions.iter().map(read).sum()
}

/// What the prompt tokens of the prefix cache would have taken, in words.
pub fn saved_time_text(time: Duration) -> String {
    format!(
        "  the prefix cache saved about {:.1} ms, at the speed of the steps that only read prompts\n",
        1e3 * time.as_secs_f64()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowburn::engine::SequenceId;

    const A: SequenceId = SequenceId(0);
    const B: SequenceId = SequenceId(1);

    fn prefill(id: SequenceId, tokens: usize) -> Decision {
        Decision::Prefill { id, start: 0, tokens }
    }

    #[test]
    fn only_steps_without_decodes_count() {
        let mut time = PrefillTime::default();
        assert_eq!(time.of(10), None);
        time.add(&[prefill(A, 30), prefill(B, 10)], Duration::from_millis(8));
        time.add(&[Decision::Decode { id: A }, prefill(B, 10)], Duration::from_millis(9));
        time.add(&[prefill(B, 10)], Duration::from_millis(2));
        assert_eq!(time.of(5), Some(Duration::from_millis(1)));
    }

    #[test]
    fn a_record_counts_up_to_the_first_logits() {
        let step = |decisions: &[Decision]| Entry::Step { decisions: decisions.to_vec() };
        let record = [
            step(&[prefill(A, 30)]),
            step(&[prefill(A, 10), prefill(B, 10)]),
            Entry::Logits { id: A, hash: String::new() },
            step(&[Decision::Decode { id: A }, prefill(B, 10)]),
        ];
        let time = PrefillTime::until_first_token(&record, Duration::from_millis(10));
        assert_eq!(time.of(100), Some(Duration::from_millis(20)));
    }
}
