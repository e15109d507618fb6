//! How many draft tokens to propose.

use std::sync::Arc;

use super::{PassCosts, gain};

/// How much what was accepted counts after each further step.
const FADES: f64 = 0.9;

/// Steps without draft tokens before another try, where they did not pay: more after each failure.
const LEAST_PAUSE: usize = 16;
const MOST_PAUSE: usize = 256;

/// The draft tokens of such a try.
const TRY: usize = 2;

/// How many draft tokens to propose for one text, from what was accepted so far.
#[derive(Debug, Clone)]
pub struct DraftLength {
    most: usize,
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    Fixed,
    Adaptive { next: usize },
    Best(Best),
}

/// What decides whether draft tokens pay.
#[derive(Debug, Clone)]
struct Best {
    costs: Arc<PassCosts>,
    /// What a draft token costs, in seconds.
    draft: f64,
    /// Draft tokens that were accepted, and those that were accepted or were the first that was not:
    /// the latest count most.
    accepted: f64,
    compared: f64,
    /// The steps until the next try.
    pause: usize,
    next_pause: usize,
}

impl DraftLength {
    /// Always so many.
    pub fn fixed(tokens: usize) -> Self {
        Self { most: tokens, rule: Rule::Fixed }
    }

    /// Up to `most`: two more after a step that accepted all, one less after any other, at least 1.
    pub fn adaptive(most: usize) -> Self {
        Self { most, rule: Rule::Adaptive { next: most.min(4) } }
    }

    /// Up to `most`: as many as make the text fastest by [`gain::best_length`], with the costs of
    /// passes and of a draft token in seconds. None where they do not pay, with a try now and then.
    pub fn best(most: usize, costs: Arc<PassCosts>, draft: f64) -> Self {
        let best = Best {
            costs,
            draft,
            accepted: 1.0,
            compared: 2.0,
            pause: 0,
            next_pause: LEAST_PAUSE,
        };
        Self { most, rule: Rule::Best(best) }
    }

    /// The number of draft tokens for the next step, in which so many sequences decode together.
    pub fn next(&mut self, sequences: usize) -> usize {
        match &mut self.rule {
            Rule::Fixed => self.most,
            Rule::Adaptive { next } => *next,
            Rule::Best(best) => best.next(self.most, sequences.max(1)),
        }
    }

    // ANCHOR: checked
    /// Notes that of `drafted` tokens the first `accepted` were accepted.
    pub fn checked(&mut self, drafted: usize, accepted: usize) {
        if drafted == 0 {
            return;
        }
        match &mut self.rule {
            Rule::Fixed => {}
            Rule::Adaptive { next } if accepted == drafted => *next = (*next + 2).min(self.most),
            Rule::Adaptive { next } => *next = next.saturating_sub(1).max(self.most.min(1)),
            Rule::Best(best) => best.checked(drafted, accepted),
        }
    }
    // ANCHOR_END: checked
}

impl Best {
    // ANCHOR: best
    fn next(&mut self, most: usize, sequences: usize) -> usize {
        if self.pause > 0 {
            self.pause -= 1;
            return if self.pause == 0 { TRY.min(most) } else { 0 };
        }
        let plain = self.costs.of(sequences);
        let pass = |drafted: usize| self.costs.of(sequences * (1 + drafted)) / plain;
        let draft = self.draft * sequences as f64 / plain;
        let best = gain::best_length(self.accepted / self.compared, most, pass, draft);
        if best == 0 {
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).min(MOST_PAUSE);
        }
        best
    }

    fn checked(&mut self, drafted: usize, accepted: usize) {
        let compared = drafted.min(accepted + 1);
        self.accepted = FADES * self.accepted + accepted as f64;
        self.compared = FADES * self.compared + compared as f64;
        if accepted == drafted {
            self.next_pause = LEAST_PAUSE;
        }
    }
    // ANCHOR_END: best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adaptive_length_grows_with_what_is_accepted_and_shrinks_to_1() {
        let mut length = DraftLength::adaptive(8);
        let mut seen = vec![length.next(1)];
        for accepted in [4, 6, 8, 3, 0] {
            length.checked(seen[seen.len() - 1], accepted);
            seen.push(length.next(1));
        }
        assert_eq!(seen, [4, 6, 8, 8, 7, 6]);
        (0..20).for_each(|_| length.checked(1, 0));
        assert_eq!(length.next(1), 1);
        assert_eq!(DraftLength::adaptive(0).next(1), 0);
    }

    #[test]
    fn where_nothing_is_accepted_the_best_length_is_0_until_the_next_try() {
        let costs = Arc::new(PassCosts::known(&[1.0, 1.2, 1.4, 1.6, 1.8]));
        let mut length = DraftLength::best(4, costs, 0.0);
        let mut drafted = 0;
        for _ in 0..1000 {
            let next = length.next(1);
            drafted += next;
            length.checked(next, 0);
        }
        assert!((10..60).contains(&drafted), "{drafted}");
        // From now on all are accepted.
        let mut last = 0;
        for _ in 0..1000 {
            last = length.next(1);
            length.checked(last, last);
        }
        assert_eq!(last, 4);
    }

    #[test]
    fn more_sequences_leave_less_to_gain() {
        // Every row costs the same: nothing waits for memory.
        let linear: Vec<f64> = (1..=12).map(|rows| f64::from(rows).max(4.0)).collect();
        let costs = Arc::new(PassCosts::known(&linear));
        let length = |sequences| DraftLength::best(8, costs.clone(), 0.0).next(sequences);
        assert_eq!([length(1), length(4)], [3, 0]);
    }
}
