//! A sequence of a batch, which samples its tokens after the forward pass of a step.

use std::iter::zip;
use std::ops::{ControlFlow, Range};

use crate::engine::{Outcome, SequenceId};
use crate::error::{Error, Result};
use crate::generate::TokenOutput;
use crate::generate::sequence_state::SequenceState;
use crate::model::MostLikely;
use crate::panics;
use crate::speculation::Speculator;

/// A sequence of a batch: its text, and what the last step did for it.
pub(super) struct Sequence {
    pub(super) id: SequenceId,
    pub(super) state: SequenceState,
    pub(super) speculator: Option<Speculator>,
    /// Taken by [`take`](Self::take). The last chunk of a prompt may have two: logits of prompt tokens,
    /// and those of the next one.
    pub(super) outcomes: Vec<Outcome>,
    /// The tokens to compute next, also one that ends the text.
    pub(super) sampled: Vec<u32>,
    /// The tokens that are added to the text.
    pub(super) tokens: Vec<TokenOutput>,
    /// How many draft tokens were accepted.
    accepted: usize,
    pub(super) end: Result<()>,
}

impl Sequence {
    pub(super) fn new(
        id: SequenceId,
        state: SequenceState,
        speculator: Option<Speculator>,
    ) -> Self {
        Self {
            id,
            state,
            speculator,
            outcomes: Vec::new(),
            sampled: Vec::new(),
            tokens: Vec::new(),
            accepted: 0,
            end: Ok(()),
        }
    }

    /// Whether its tokens are chosen under a constraint, by nobody who may wait for this thread.
    pub(super) fn is_constrained(&self) -> bool {
        let samples =
            |outcome: &Outcome| matches!(outcome, Outcome::Logits(_) | Outcome::Checked { .. });
        self.state.constraint_aside().is_some() && self.outcomes.iter().any(samples)
    }

    /// Ends the sequence.
    pub(super) fn fail(&mut self, error: Error) {
        self.outcomes.clear();
        self.end = Err(error);
    }

    pub(super) fn take(&mut self) {
        for outcome in std::mem::take(&mut self.outcomes) {
            self.end = match outcome {
                Outcome::Logits(logits) => self.sample(&[logits], &[]),
                Outcome::MostLikely(token) => self.take_greedy(token),
                Outcome::Checked { draft, rows } => self.sample(&rows, &draft),
                Outcome::PromptLogits { rows, .. } => self.state.score_prompt(&rows),
                Outcome::Failed(error) => Err(error),
            };
            if self.end.is_err() {
                return;
            }
        }
    }

    /// As [`take`](Self::take), in a thread that may take its time: also what a draft will ask of the
    /// constraint is found out.
    pub(super) fn take_aside(&mut self, ahead: usize) {
        self.take();
        if self.end.is_ok() && self.speculator.is_some() && !self.state.is_finished() {
            self.state.look_ahead(ahead);
        }
    }

    /// The next token of a greedy text, which the device has found.
    fn take_greedy(&mut self, token: MostLikely) -> Result<()> {
        let tokens = &mut self.tokens;
        let id = self.state.take_greedy(token, &mut |chosen| {
            tokens.push(chosen.token.clone());
            ControlFlow::Continue(())
        })?;
        self.sampled = vec![id];
        Ok(())
    }

    /// The indices of those of its tokens that were draft tokens: the first ones.
    pub(super) fn drafted(&self) -> Option<Range<usize>> {
        let first = self.tokens.first().filter(|_| self.accepted > 0)?.index;
        Some(first..first + self.accepted.min(self.tokens.len()))
    }

    /// Samples the next tokens from the rows of logits, `[vocab]`: one, and one more for each draft
    /// token that is accepted.
    fn sample(&mut self, rows: &[Vec<f32>], draft: &[u32]) -> Result<()> {
        if self.state.tokens_left() == 0 {
            self.state.finish_without_tokens();
            return Ok(());
        }
        let tokens = &mut self.tokens;
        let residual = self.speculator.as_ref().and_then(Speculator::residual);
        // The sampler may hold the caller's rules. A panic in one fails only this sequence.
        let checked = panics::contain("a sampling rule", || {
            self.state.check(rows, draft, residual, &mut |chosen| {
                tokens.push(chosen.token.clone());
                ControlFlow::Continue(())
            })
        });
        self.sampled = match checked {
            // Behind accepted tokens, which hold: as where a rule fails there.
            Err(panic) if !tokens.is_empty() => {
                self.state.fail_next(panic);
                tokens.iter().map(|token| token.token_id).collect()
            }
            checked => checked??,
        };
        self.accepted = zip(&self.sampled, draft).filter(|(token, guess)| token == guess).count();
        if let Some(speculator) = &mut self.speculator {
            speculator.checked(draft.len(), self.accepted);
        }
        Ok(())
    }
}
