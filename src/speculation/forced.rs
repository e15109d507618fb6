//! Tokens that a constraint leaves no choice about.

use super::{Draft, Text};
use crate::error::Result;

/// Proposes the tokens that the text's constraint forces, which are always right. Where there is a
/// choice, it asks another draft.
#[derive(Debug)]
pub struct ForcedTokens<D> {
    otherwise: D,
}

impl<D: Draft> ForcedTokens<D> {
    /// Asks `otherwise` where nothing is forced.
    pub fn or(otherwise: D) -> Self {
        Self { otherwise }
    }
}

impl<D: Draft> Draft for ForcedTokens<D> {
    fn propose(&mut self, text: &Text<'_>, most: usize) -> Result<Vec<u32>> {
        let forced = text.sampler.forced(&text.tokens[text.prompt..], most)?;
        if forced.is_empty() {
            return self.otherwise.propose(text, most);
        }
        Ok(forced)
    }

    fn unread(&self, text: &Text<'_>) -> usize {
        self.otherwise.unread(text)
    }

    fn read(&mut self, text: &Text<'_>, most: usize) -> Result<()> {
        self.otherwise.read(text, most)
    }

    /// Of forced tokens, those of an earlier proposal, which do not matter: the model's distribution has
    /// no other token, and whatever the draft's is, it is accepted.
    fn distributions(&self) -> &[Vec<f32>] {
        self.otherwise.distributions()
    }
}
