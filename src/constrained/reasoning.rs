//! Where the thought of a reasoning model ends and its answer begins.

use super::{Follower, NextTokens};
use crate::error::{Error, RequestError, Result};

/// The tokens around the thought of a reasoning model. With them a thought has a budget, and a constraint on
/// the answer begins behind the thought. What may come next depends on the output alone, so a text is the same
/// in every batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasoning {
    openings: Vec<Vec<u32>>,
    close: u32,
    then: Vec<u32>,
    lead: Vec<u32>,
    budget: Option<usize>,
}

/// What an output is at its end.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// It may go on with one of these tokens, which lead to a thought or to an answer, or be an answer from this
    /// index on.
    Start {
        ids: Vec<u32>,
        answer: Option<usize>,
    },
    Thought,
    /// This token comes next.
    Forced(u32),
    /// It is an answer from this index on.
    Answer(usize),
}

impl Reasoning {
    /// A thought that begins the output with the tokens of one of `openings`, and ends with the token `close`.
    /// An opening without tokens is a thought that the prompt has begun.
    pub fn new(openings: Vec<Vec<u32>>, close: u32) -> Self {
        Self {
            openings,
            close,
            then: Vec::new(),
            lead: Vec::new(),
            budget: None,
        }
    }

    /// An answer begins with the tokens `lead`, which are forced, and behind a thought the tokens `then` come
    /// before them.
    pub fn with_lead(self, then: Vec<u32>, lead: Vec<u32>) -> Self {
        Self { then, lead, ..self }
    }

    /// The same thought, in an output that is behind its opening.
    pub fn begun(&self) -> Self {
        Self { openings: vec![Vec::new()], ..self.clone() }
    }

    /// The constraint says itself how an answer begins.
    pub fn without_lead(self) -> Self {
        Self { lead: Vec::new(), ..self }
    }

    /// Ends a thought after this many tokens, between its marks: the token that closes it is forced.
    pub fn with_budget(self, budget: Option<usize>) -> Self {
        Self { budget, ..self }
    }

    /// Checks that its tokens are in a vocabulary of this size.
    ///
    /// # Errors
    /// A token that is not.
    #[cfg(feature = "text")]
    pub(crate) fn check_vocabulary(&self, vocab_size: usize) -> Result<()> {
        let opens = self.openings.iter().flatten();
        let mut ids = opens.chain(&self.then).chain(&self.lead).chain([&self.close]);
        match ids.find(|id| **id as usize >= vocab_size) {
            Some(id) => Err(RequestError::Parameter {
                name: "reasoning",
                value: format!("by token id {id}, in a vocabulary of {vocab_size} tokens"),
                allowed: "by ids of the vocabulary",
            }
            .into()),
            None => Ok(()),
        }
    }

    fn place(&self, output: &[u32]) -> Place {
        let Some(opening) = self.openings.iter().find(|opening| output.starts_with(opening)) else {
            return self.start(output);
        };
        let thought = &output[opening.len()..];
        let Some(length) = thought.iter().position(|&id| id == self.close) else {
            return match self.budget {
                Some(budget) if thought.len() >= budget => Place::Forced(self.close),
                _ => Place::Thought,
            };
        };
        let end = opening.len() + length + 1;
        let mut forced = self.then.iter().chain(&self.lead);
        match forced.nth(output.len() - end) {
            Some(&id) => Place::Forced(id),
            None => Place::Answer(end + self.then.len() + self.lead.len()),
        }
    }

    /// An output that is no thought, or none yet.
    fn start(&self, output: &[u32]) -> Place {
        let ways = self.openings.iter().chain([&self.lead]);
        let ids: Vec<u32> =
            ways.filter_map(|way| way.strip_prefix(output)?.first().copied()).collect();
        let begins = self.lead.len().min(output.len());
        if ids.is_empty() {
            return Place::Answer(begins);
        }
        let answer = output.starts_with(&self.lead).then_some(begins);
        Place::Start { ids, answer }
    }

    /// The tokens that may come after `output`, in a vocabulary of this size, where `follower` says it of the
    /// answer. None for any.
    pub(crate) fn next(
        &self,
        follower: Option<&Follower>,
        output: &[u32],
        vocab_size: usize,
    ) -> Result<Option<NextTokens>> {
        let next = match (self.place(output), follower) {
            (Place::Forced(id), _) => NextTokens::of(&[id], vocab_size),
            (_, None) => return Ok(None),
            (Place::Answer(begins), Some(follower)) => follower.next(&output[begins..])?,
            // A text that ended here would be no answer.
            (Place::Thought, Some(follower)) => {
                NextTokens::all_but(follower.constraint().vocabulary().end_ids(), vocab_size)
            }
            (Place::Start { ids, answer }, Some(follower)) => {
                let of_answer = answer.map(|begins| follower.next(&output[begins..])).transpose();
                match of_answer {
                    Ok(Some(next)) => next.and(&ids),
                    Ok(None) | Err(Error::Request(RequestError::OutsideGrammar { .. })) => {
                        NextTokens::of(&ids, vocab_size)
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        Ok(Some(next))
    }

    /// The tokens that must come after `output`, as [`Follower::forced`] has them.
    pub(crate) fn forced(
        &self,
        follower: Option<&Follower>,
        output: &[u32],
        most: usize,
    ) -> Result<Vec<u32>> {
        match (self.place(output), follower) {
            (Place::Forced(id), _) if most > 0 => Ok(vec![id]),
            (Place::Answer(begins), Some(follower)) => follower.forced(&output[begins..], most),
            _ => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: u32 = 1;
    const CLOSE: u32 = 2;
    const NEWLINE: u32 = 3;

    #[test]
    fn a_thought_ends_with_its_mark_or_with_its_budget() {
        let tags = Reasoning::new(vec![vec![NEWLINE, OPEN], vec![OPEN]], CLOSE);
        for budget in [None, Some(2)] {
            let tags = tags.clone().with_budget(budget);
            let ids = vec![NEWLINE, OPEN];
            assert_eq!(tags.place(&[]), Place::Start { ids, answer: Some(0) });
            assert_eq!(tags.place(&[9]), Place::Answer(0));
            assert_eq!(tags.place(&[OPEN, 7]), Place::Thought);
            assert_eq!(tags.place(&[OPEN, 7, CLOSE]), Place::Answer(3));
            assert_eq!(tags.place(&[NEWLINE, OPEN, CLOSE, OPEN]), Place::Answer(3));
        }
        let cut = tags.with_budget(Some(2));
        assert_eq!(cut.place(&[OPEN, 7, 8]), Place::Forced(CLOSE));
        assert_eq!(cut.place(&[OPEN, 7, 8, CLOSE, 9]), Place::Answer(4));
        let begun = Reasoning::new(vec![vec![]], CLOSE).with_budget(Some(0));
        assert_eq!(begun.place(&[]), Place::Forced(CLOSE));
        assert_eq!(begun.place(&[CLOSE]), Place::Answer(1));
    }

    #[test]
    fn behind_a_thought_the_beginning_of_the_answer_is_forced() {
        // As Harmony has it: <channel> analysis <message>, <start> assistant, <channel> final <message>.
        let channels =
            Reasoning::new(vec![vec![4, 5, 6]], CLOSE).with_lead(vec![7, 8], vec![4, 9, 6]);
        assert_eq!(channels.place(&[]), Place::Start { ids: vec![4, 4], answer: None });
        assert_eq!(channels.place(&[4]), Place::Start { ids: vec![5, 9], answer: None });
        assert_eq!(channels.place(&[4, 9]), Place::Start { ids: vec![6], answer: None });
        assert_eq!(channels.place(&[4, 9, 6]), Place::Answer(3));
        let thought = [4, 5, 6, 0, 0, CLOSE, 7, 8, 4, 9, 6, 1];
        assert_eq!(channels.place(&thought[..5]), Place::Thought);
        for (length, &id) in thought.iter().enumerate().take(11).skip(6) {
            assert_eq!(channels.place(&thought[..length]), Place::Forced(id));
            assert_eq!(channels.forced(None, &thought[..length], 8).unwrap(), [id]);
        }
        assert_eq!(channels.place(&thought), Place::Answer(11));
        let bare = channels.without_lead();
        assert_eq!(bare.place(&[]), Place::Start { ids: vec![4], answer: Some(0) });
        assert_eq!(bare.place(&thought), Place::Answer(8));
    }
}
