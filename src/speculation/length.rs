//! How many draft tokens to propose.

use std::sync::Arc;

use super::{PassCosts, gain};

/// How much what was accepted counts after each further step.
const FADES: f64 = 0.9;

/// Steps without draft tokens before another try, where they do not pay: twice as many after each
/// failure.
const LEAST_PAUSE: usize = 16;
const MOST_PAUSE: usize = 256;

/// The draft tokens of such a try, and the share of the time that tries may take.
const TRY: usize = 2;
const MOST_LOSS: f64 = 0.02;

/// What is worth it. The costs are those of passes alone, and tokens are sampled and compared too.
const LEAST_GAIN: f64 = 1.05;

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
    /// The steps until the next try, which is over when something was compared. 0 where there is none.
    pause: usize,
    last_pause: usize,
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
            last_pause: 0,
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
}

impl Best {
    fn next(&mut self, most: usize, sequences: usize) -> usize {
        let (acceptance, plain) = (self.accepted / self.compared, self.costs.of(sequences));
        let pass = |drafted: usize| self.costs.of(sequences * (1 + drafted)) / plain;
        let draft = self.draft * sequences as f64 / plain;
        let best = gain::best_length(acceptance, most, pass, draft);
        if gain::speed_up(acceptance, best, pass(best), draft) > LEAST_GAIN {
            (self.pause, self.last_pause) = (0, 0);
            return best;
        }
        match self.pause {
            0 => {
                let loss = pass(TRY) + TRY as f64 * draft - 1.0;
                let least = LEAST_PAUSE.max((loss / MOST_LOSS) as usize);
                self.last_pause = (2 * self.last_pause).clamp(least, MOST_PAUSE.max(least));
                self.pause = self.last_pause;
                0
            }
            1 => TRY.min(most),
            _ => {
                self.pause -= 1;
                0
            }
        }
    }

    fn checked(&mut self, drafted: usize, accepted: usize) {
        let compared = drafted.min(accepted + 1);
        self.accepted = FADES * self.accepted + accepted as f64;
        self.compared = FADES * self.compared + compared as f64;
        if accepted == drafted {
            self.last_pause = 0;
        }
        self.pause = 0;
    }
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
    fn a_try_lasts_until_something_was_guessed_and_takes_a_fiftieth_of_the_time() {
        // Two draft tokens cost half a pass, so that 25 steps are between two tries.
        let costs = Arc::new(PassCosts::known(&[1.0, 1.5, 1.5, 9.0, 9.0]));
        let mut length = DraftLength::best(4, costs, 0.0);
        while length.next(1) > 0 {
            length.checked(2, 0);
        }
        let pause = (0..).take_while(|_| length.next(1) == 0).count();
        assert_eq!(pause + 1, 25);
        assert_eq!([(); 5].map(|()| length.next(1)), [TRY; 5]);
        length.checked(TRY, 0);
        assert_eq!((0..).take_while(|_| length.next(1) == 0).count(), 50);
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
