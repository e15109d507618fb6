//! The log-probabilities of a completion.

use std::collections::BTreeMap;

use crate::inference::TokenOutput;
use crate::sampling::TokenLogprobs;
use crate::serve::error::ApiError;
use crate::serve::service::Service;
use crate::serve::wire::CompletionLogprobs;
use crate::tokenizer::IncrementalDecoder;

/// Appends the tokens of an echoed prompt. The first has no log-probability: nothing comes before
/// it.
pub(super) fn push_prompt(
    logprobs: &mut CompletionLogprobs,
    service: &Service,
    ids: &[u32],
    of_prompt: &[TokenLogprobs],
) -> Result<(), ApiError> {
    let mut decoder = IncrementalDecoder::after(&service.pretrained.tokenizer, &[]);
    let mut offset = 0;
    let first = std::iter::once(None);
    for (&id, logprob) in ids.iter().zip(first.chain(of_prompt.iter().map(Some))) {
        logprobs.tokens.push(service.token_text(id));
        logprobs.token_logprobs.push(logprob.map(|found| found.logprob));
        let top = logprob.map(|found| top(service, id, found.logprob, &found.top));
        logprobs.top_logprobs.push(top);
        logprobs.text_offset.push(offset);
        offset += decoder.push(id)?.chars().count();
    }
    Ok(())
}

/// Appends generated tokens, whose text begins at `offset`. Returns where it ends.
pub(super) fn push_tokens(
    logprobs: &mut CompletionLogprobs,
    service: &Service,
    mut offset: usize,
    tokens: &[TokenOutput],
) -> usize {
    for token in tokens {
        let logprob = token.logprob.unwrap_or_default();
        logprobs.tokens.push(service.token_text(token.token_id));
        logprobs.token_logprobs.push(token.logprob);
        let top = top(service, token.token_id, logprob, &token.top_logprobs);
        logprobs.top_logprobs.push(Some(top));
        logprobs.text_offset.push(offset);
        offset += token.token.chars().count();
    }
    offset
}

/// The most likely tokens by their text, with the chosen one. Of several with the same text, the
/// most likely one stays.
fn top(
    service: &Service,
    chosen: u32,
    logprob: f32,
    likely: &[(u32, f32)],
) -> BTreeMap<String, f32> {
    let mut top = BTreeMap::new();
    for &(id, logprob) in likely.iter().chain([&(chosen, logprob)]) {
        top.entry(service.token_text(id)).or_insert(logprob);
    }
    top
}
