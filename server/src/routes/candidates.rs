//! `/candidates`: the distribution of the next token, before and after the sampler's rules.

use axum::Json;
use axum::extract::State;
use slowburn::inference::GenerateRequest;
use slowburn::sampling::Sampler;
use slowburn::sampling::statistics::{entropy_bits, survivors};

use super::refusals::{BodyRefusals, Refusals};
use crate::error::ApiError;
use crate::json::ApiJson;
use crate::reply;
use crate::request::generate_request;
use crate::service::Service;
use crate::state::App;
use crate::unsupported::{Field, OF_SAMPLERS, check_fields};
use crate::updates::Updates;
use crate::wire::{Candidate, Candidates, CandidatesRequest, SamplingOptions};

/// The most likely next tokens.
#[utoipa::path(post, path = "/candidates", request_body = CandidatesRequest, responses(
    (status = 200, body = Candidates),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn candidates(
    State(app): State<App>,
    ApiJson(body): ApiJson<CandidatesRequest>,
) -> Result<Json<Candidates>, ApiError> {
    let service = app.service()?.clone();
    check_fields(&unread(), &body.other, "")?;
    let ids = service.prompt_ids(body.prompt.clone()).await?;
    check_room(&service, &ids)?;
    // The rules that need no more than log-probabilities: a repetition penalty scales logits.
    let CandidatesRequest { count, temperature, top_k, top_p, min_p, .. } = body;
    let sampling = SamplingOptions {
        temperature,
        top_k,
        top_p,
        min_p,
        ..SamplingOptions::default()
    };
    let (prompt, one) = (("prompt", ids.clone()), ("max_tokens", Some(1)));
    let request = generate_request(&app, prompt, one, None, &sampling)?;
    let vocab_size = service.pretrained.model.config().vocab_size;
    let (logprobs, params) = (Some(vocab_size), request.sampling.clone());
    let request = GenerateRequest { logprobs, ignore_eos: true, ..request };
    let updates = Updates::start(&app, &service, vec![request], None).await?;
    let reply = reply::collect(updates, 1).await?.swap_remove(0);
    let ranked = reply.tokens.first().map(|token| token.top_logprobs.as_slice());
    let ranked = ranked.ok_or_else(|| ApiError::internal("one token was not generated"))?;

    // Log-probabilities are logits: they differ by the same number for all tokens.
    let mut logits = vec![0.0; vocab_size];
    ranked.iter().for_each(|&(id, logprob)| logits[id as usize] = logprob);
    let distribution = Sampler::new(&params)?.distribution(&logits, &ids, &[])?;
    let candidate = |&(id, logprob): &(u32, f32)| Candidate {
        token: service.token_text(id),
        token_id: id,
        probability: f64::from(logprob).exp(),
        sampled: Some(f64::from(distribution[id as usize])),
    };
    Ok(Json(Candidates {
        candidates: ranked.iter().take(count.unwrap_or(10)).map(candidate).collect(),
        survivors: survivors(&distribution),
        vocab_size,
        entropy_bits: entropy_bits(&distribution),
    }))
}

/// The fields of other routes' samplers that would change the distribution.
fn unread() -> Vec<Field> {
    // These stop a text, or decide which token is drawn.
    const HARMLESS: [&str; 4] = ["seed", "stop", "stop_token_ids", "ignore_eos"];
    let read = |name| ["temperature", "top_k", "top_p", "min_p"].contains(&name);
    let changes = |(name, _): &Field| !HARMLESS.contains(name) && !read(*name);
    OF_SAMPLERS.into_iter().filter(changes).collect()
}

/// Checks that a token can follow the prompt: one that fills the context is no error where texts are
/// generated, since they may be empty.
fn check_room(service: &Service, prompt: &[u32]) -> Result<(), ApiError> {
    let context = service.context_length();
    if prompt.len() == context {
        let message = format!(
            "the prompt has {context} tokens, which is the model's context length: nothing can follow it; shorten the prompt"
        );
        let error = ApiError::bad_request("context_length_exceeded", message);
        return Err(error.with_param("prompt"));
    }
    Ok(())
}
