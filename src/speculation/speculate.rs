//! The draft tokens of one text.

use super::{Draft, DraftLength, Text};
use crate::error::Result;

/// A draft for one text, how many tokens it proposes, and which of them are accepted.
pub struct Speculator {
    draft: Box<dyn Draft>,
    length: DraftLength,
    acceptance: Acceptance,
}

/// Which draft tokens are accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Acceptance {
    /// Those that the sampler draws too, with the numbers that it would draw without them. The text of
    /// a seed stays what it is.
    #[default]
    Compare,
    /// By [`residual`](super::residual) sampling. The text has the same distribution, and the text of
    /// a seed depends on the draft tokens.
    Residual,
}

impl Speculator {
    /// Asks `draft` for as many tokens as `length` says.
    pub fn new(draft: impl Draft + 'static, length: DraftLength) -> Self {
        Self {
            draft: Box::new(draft),
            length,
            acceptance: Acceptance::Compare,
        }
    }

    /// With another rule than comparing.
    pub fn with_acceptance(self, acceptance: Acceptance) -> Self {
        Self { acceptance, ..self }
    }

    /// For residual sampling, the distributions of the last proposal: see [`Draft::distributions`].
    pub(crate) fn residual(&self) -> Option<&[Vec<f32>]> {
        (self.acceptance == Acceptance::Residual).then(|| self.draft.distributions())
    }

    /// Draft tokens for the next step, `most` at most. So many sequences decode in that step.
    ///
    /// # Errors
    /// Those of the draft.
    pub fn propose(&mut self, text: &Text<'_>, most: usize, sequences: usize) -> Result<Vec<u32>> {
        self.propose_within(&mut { usize::MAX }, text, most, sequences)
    }

    /// As [`propose`](Self::propose), where the draft may read `budget` tokens of the text that are new
    /// to it. They are taken from the budget. Where there are more, it reads so many, and proposes
    /// nothing yet.
    ///
    /// # Errors
    /// Those of the draft.
    pub(crate) fn propose_within(
        &mut self,
        budget: &mut usize,
        text: &Text<'_>,
        most: usize,
        sequences: usize,
    ) -> Result<Vec<u32>> {
        let most = self.length.next(sequences).min(most);
        if most == 0 {
            return Ok(Vec::new());
        }
        let unread = self.draft.unread(text);
        if unread > *budget {
            self.draft.read(text, std::mem::take(budget))?;
            return Ok(Vec::new());
        }
        *budget -= unread;
        let mut draft = self.draft.propose(text, most)?;
        draft.truncate(most);
        Ok(draft)
    }

    /// Notes that of `drafted` tokens the first `accepted` were accepted.
    pub fn checked(&mut self, drafted: usize, accepted: usize) {
        self.length.checked(drafted, accepted);
    }
}

impl std::fmt::Debug for Speculator {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Speculator").field("length", &self.length).finish_non_exhaustive()
    }
}
