//! What a model writes, told apart as it comes: thoughts, text, and calls of tools.

use slowburn::constrained::Reasoning;
use slowburn::inference::TokenOutput;
use slowburn::tokenizer::{AnswerPiece, Thoughts};

use super::split::{Piece, Splitter};
use crate::error::ApiError;

/// Divides an answer. It reads the tokens in their order.
#[derive(Debug, Clone)]
pub(in super::super) struct AnswerSplitter {
    thoughts: Thoughts,
    calls: Splitter,
}

impl AnswerSplitter {
    pub(in super::super) fn new(thoughts: Thoughts, calls: Splitter) -> Self {
        Self { thoughts, calls }
    }

    /// Goes past a text that the prompt has already, and the model continues.
    pub(in super::super) fn skip(&mut self, text: &str) {
        self.thoughts.skip(text);
    }

    /// What the next token says.
    pub(in super::super) fn push(&mut self, token: &TokenOutput) -> Vec<Piece> {
        let mark = self.calls.mark(token.token_id).unwrap_or_default();
        let text = format!("{mark}{}", token.token);
        let pieces = self.thoughts.push_token(token.token_id, &text);
        pieces.into_iter().flat_map(|piece| self.piece(piece)).collect()
    }

    /// What is left at the end.
    pub(in super::super) fn finish(&mut self) -> Vec<Piece> {
        let rest = self.thoughts.finish();
        let mut pieces: Vec<Piece> = rest.into_iter().flat_map(|piece| self.piece(piece)).collect();
        pieces.extend(self.calls.finish());
        pieces
    }

    fn piece(&mut self, piece: AnswerPiece) -> Vec<Piece> {
        match piece {
            AnswerPiece::Thought(text) => vec![Piece::Thought(text)],
            AnswerPiece::Call(name) if self.calls.has_tools() => {
                vec![Piece::Call { name, id: None }]
            }
            AnswerPiece::Call(_) => Vec::new(),
            AnswerPiece::Arguments(text) if self.calls.has_tools() => vec![Piece::Arguments(text)],
            AnswerPiece::Text(text) | AnswerPiece::Arguments(text) => self.calls.push(&text),
        }
    }

    /// Whether the model answers, as far as is known: what it writes is no thought.
    pub(in super::super) fn is_answering(&self) -> bool {
        self.thoughts.is_outside()
    }

    /// The thought before an answer that is bound to a form, or of `max_reasoning_tokens` at most; None where
    /// nothing is asked of it.
    ///
    /// # Errors
    /// A limit for a model whose thoughts do not lie between tokens.
    pub(in super::super) fn reasoning(
        &self,
        is_bound: bool,
        max_reasoning_tokens: Option<usize>,
    ) -> Result<Option<Reasoning>, ApiError> {
        if max_reasoning_tokens.is_some() && !self.thoughts.has_tokens() {
            let field = "max_reasoning_tokens";
            let message = format!(
                "`{field}` is for a model that thinks between two tokens, such as `<think>` and `</think>`, and this one has none: leave it out"
            );
            return Err(ApiError::unsupported(field, message));
        }
        let reasoning =
            self.thoughts.reasoning().filter(|_| is_bound || max_reasoning_tokens.is_some());
        let reasoning = match self.calls.has_tools() {
            true => reasoning.map(Reasoning::without_lead),
            false => reasoning,
        };
        Ok(reasoning.map(|reasoning| reasoning.with_budget(max_reasoning_tokens)))
    }

    /// How many tokens were thoughts.
    pub(in super::super) fn thought_tokens(&self) -> usize {
        self.thoughts.tokens()
    }
}
