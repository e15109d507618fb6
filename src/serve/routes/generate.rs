//! `/generate`: one prompt, and the tokens as the library knows them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};

use super::refusals::{BodyRefusals, Refusals, StreamEvent};
use crate::inference::{Completion, GenerateRequest, TokenOutput};
use crate::serve::error::ApiError;
use crate::serve::json::SampledJson;
use crate::serve::metrics::finish_name;
use crate::serve::reply;
use crate::serve::request::generate_request;
use crate::serve::service::Service;
use crate::serve::sse::{self, EventResult};
use crate::serve::state::App;
use crate::serve::updates::{Update, Updates};
use crate::serve::wire::{
    Candidate, GenerateBody, Generated, GeneratedEnd, StreamedToken, WireUsage, WithSampling,
};

/// The length where the request has none.
const DEFAULT_MAX_TOKENS: usize = 256;

/// Continues a prompt.
// ANCHOR: generate
#[utoipa::path(post, path = "/generate", request_body = WithSampling<GenerateBody>, responses(
    (status = 200, content((Generated = "application/json"), (StreamEvent = "text/event-stream"))),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn generate(
    State(app): State<App>,
    SampledJson(body, sampling): SampledJson<GenerateBody>,
) -> Result<Response, ApiError> {
    let service = app.service()?.clone();
    let ids = service.prompt_ids(body.prompt).await?;
    let request =
        generate_request(&app, ids, body.max_tokens, Some(DEFAULT_MAX_TOKENS), &sampling)?;
    let request = GenerateRequest { logprobs: body.logprobs, ..request };
    let updates = Updates::start(&app, &service, vec![request]).await?;
    if body.stream.unwrap_or(false) {
        return Ok(sse::respond(updates, Encoder(service)));
    }
    let reply = reply::collect(updates, 1).await?.swap_remove(0);
    let text = reply.text();
    let tokens = reply.tokens.into_iter().map(|token| streamed(&service, token)).collect();
    Ok(Json(Generated { text, tokens, end: end(&reply.completion) }).into_response())
}
// ANCHOR_END: generate

fn streamed(service: &Service, token: TokenOutput) -> StreamedToken {
    let candidate = |&(id, logprob): &(u32, f32)| Candidate {
        token: service.token_text(id),
        token_id: id,
        probability: f64::from(logprob).exp(),
        sampled: None,
    };
    StreamedToken {
        top: token.top_logprobs.iter().map(candidate).collect(),
        token: token.token,
        token_id: token.token_id,
        index: token.index,
        logprob: token.logprob,
    }
}

fn end(completion: &Completion) -> GeneratedEnd {
    let mut usage = WireUsage::default();
    usage.add(&completion.usage, true);
    let timings = &completion.timings;
    GeneratedEnd {
        finish_reason: finish_name(&completion.finish_reason),
        usage,
        queue_seconds: timings.queue.as_secs_f64(),
        ttft_seconds: timings.ttft.map(|time| time.as_secs_f64()),
        tpot_seconds: timings.tpot.map(|time| time.as_secs_f64()),
        total_seconds: timings.total.as_secs_f64(),
    }
}

/// Writes an event for each token, and a last one for the end.
struct Encoder(Arc<Service>);

impl sse::Encoder for Encoder {
    fn update(&mut self, _: usize, update: Update) -> Vec<EventResult> {
        match update {
            Update::Prompt(_) => Vec::new(), // nobody has asked
            Update::Token(token) => vec![sse::json(&streamed(&self.0, token))],
            Update::End(completion) => vec![sse::json(&end(&completion))],
        }
    }

    fn end(&mut self) -> Vec<EventResult> {
        Vec::new()
    }
}
