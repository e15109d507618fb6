//! The whole answer of each sequence, for requests that are not streamed.

use slowburn::inference::{Completion, TokenOutput};

use super::error::ApiError;
use super::updates::{Update, Updates};

/// The answer of one sequence.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) tokens: Vec<TokenOutput>,
    pub(super) completion: Completion,
}

impl Reply {
    pub(super) fn text(&self) -> String {
        self.tokens.iter().map(|token| token.token.as_str()).collect()
    }

    /// The mean log-probability of its tokens, which ranks the candidates of `best_of`.
    pub(super) fn mean_logprob(&self) -> f32 {
        let logprobs = self.tokens.iter().filter_map(|token| token.logprob);
        logprobs.sum::<f32>() / self.tokens.len().max(1) as f32
    }
}

/// Waits for all sequences.
pub(super) async fn collect(
    mut updates: Updates,
    sequences: usize,
) -> Result<Vec<Reply>, ApiError> {
    let mut tokens: Vec<Vec<TokenOutput>> = vec![Vec::new(); sequences];
    let mut completions: Vec<Option<Completion>> = vec![None; sequences];
    while let Some((index, update)) = updates.next().await? {
        match update {
            Update::Prompt(_) => {} // the completion has them too
            Update::Token(token) => tokens[index].push(token),
            Update::End(completion) => completions[index] = Some(completion),
        }
    }
    let reply = |(tokens, completion): (_, Option<_>)| {
        let completion = completion.ok_or_else(|| ApiError::internal("a sequence has no end"))?;
        Ok(Reply { tokens, completion })
    };
    tokens.into_iter().zip(completions).map(reply).collect()
}
