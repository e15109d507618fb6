//! What was accepted of a guess.

use super::*;

/// A text of these tokens that ended for this reason.
fn text(ids: &[u32], finish_reason: FinishReason) -> GuessedText {
    let watched = Generation {
        ids: ids.to_vec(),
        logprobs: Vec::new(),
        prompt_logprobs: Vec::new(),
        finish_reason,
        kv_cache_bytes: 0,
        cached_tokens: 0,
        preemptions: 0,
        drafted: 0,
        accepted: 0,
        logits_hash: None,
    };
    GuessedText {
        text: GuessPrompt { name: "a story", prompt: Vec::new() },
        steps: Vec::new(),
        reference: watched.clone(),
        watched,
        plain: Vec::new(),
        guessed: Vec::new(),
    }
}

#[test]
fn the_token_that_ends_a_text_is_accepted_where_it_was_guessed() {
    let guess = |tokens: &[u32]| Guess { at: 1, tokens: tokens.to_vec() };
    let ended = text(&[5, 6, 7], FinishReason::Eos);
    for (tokens, accepted) in [
        (&[6, 7, 0, 3][..], 3),
        (&[6, 7, 3], 2),
        (&[6, 0], 1),
        (&[9], 0),
    ] {
        assert_eq!(ended.accepted(&guess(tokens), &[0]), accepted, "{tokens:?}");
    }
    // One that reached its limit has no such token.
    let full = text(&[5, 6, 7], FinishReason::Length);
    assert_eq!(full.accepted(&guess(&[6, 7, 0]), &[0]), 2);
    let stopped = text(&[5, 6, 7], FinishReason::StopId(4));
    assert_eq!(stopped.accepted(&guess(&[6, 7, 4]), &[0]), 3);
}
