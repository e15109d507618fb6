//! The draft tokens of one text.

use super::{Draft, DraftLength, Text};
use crate::error::Result;

/// A draft for one text, and how many tokens it proposes.
pub struct Speculator {
    draft: Box<dyn Draft>,
    length: DraftLength,
}

impl Speculator {
    /// Asks `draft` for as many tokens as `length` says.
    pub fn new(draft: impl Draft + 'static, length: DraftLength) -> Self {
        Self { draft: Box::new(draft), length }
    }

    /// Draft tokens for the next step, `most` at most. So many sequences decode in that step.
    ///
    /// # Errors
    /// Those of the draft.
    pub fn propose(&mut self, text: &Text<'_>, most: usize, sequences: usize) -> Result<Vec<u32>> {
        let most = self.length.next(sequences).min(most);
        if most == 0 {
            return Ok(Vec::new());
        }
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
