//! The log-probabilities of a completion.

use std::collections::BTreeMap;

use slowburn::inference::TokenOutput;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::TokenLogprobs;
use slowburn::tokenizer::IncrementalDecoder;

use super::PromptText;
use crate::error::ApiError;
use crate::service::Service;
use crate::wire::CompletionLogprobs;

/// Where each token of a prompt begins in its text, in characters. A special token has no text,
/// unless its name is the next thing in `named`: the text, where names in it became such tokens.
pub(super) fn text_offsets(
    pretrained: &Pretrained,
    ids: &[u32],
    named: &str,
) -> Result<Vec<usize>, ApiError> {
    let tokenizer = &pretrained.tokenizer;
    let mut decoder = IncrementalDecoder::after(tokenizer, &[]);
    let (mut end, mut rest) = (0, named);
    let mut offset = |&id| {
        let begin = end;
        let mut piece = decoder.push(id)?;
        if piece.is_empty() && tokenizer.token_bytes(id).is_none() {
            let name = tokenizer.token(id).filter(|name| rest.starts_with(name.as_str()));
            piece = name.unwrap_or_default();
        }
        end += piece.chars().count();
        // Behind text that the tokenizer has changed, no name is found.
        rest = rest.strip_prefix(piece.as_str()).unwrap_or_default();
        Ok(begin)
    };
    ids.iter().map(&mut offset).collect()
}

/// The tokens of an echoed prompt. The first has no log-probability: nothing comes before it.
pub(super) fn of_prompt(
    service: &Service,
    PromptText { ids, offsets, .. }: &PromptText,
    scores: &[TokenLogprobs],
) -> CompletionLogprobs {
    let mut logprobs = CompletionLogprobs::default();
    let scores = std::iter::once(None).chain(scores.iter().map(Some));
    for ((&id, &offset), score) in ids.iter().zip(offsets).zip(scores) {
        logprobs.tokens.push(service.token_text(id));
        logprobs.token_logprobs.push(score.map(|found| found.logprob));
        let top = score.map(|found| top(service, id, found.logprob, &found.top));
        logprobs.top_logprobs.push(top);
        logprobs.text_offset.push(offset);
    }
    logprobs
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
