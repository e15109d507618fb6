//! `/generate`: one prompt, and the tokens as the library knows them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use slowburn::inference::{Completion, GenerateRequest, TokenOutput};
use utoipa::ToSchema;

use super::refusals::{BodyRefusals, Refusals, StreamEvent};
use super::sglang;
use crate::error::ApiError;
use crate::formats::{self, Format};
use crate::json::{parse, read_object};
use crate::metrics::finish_name;
use crate::reply;
use crate::request::generate_request;
use crate::service::Service;
use crate::sse::{self, EventResult};
use crate::state::App;
use crate::unsupported;
use crate::updates::{Update, Updates};
use crate::wire::{
    Candidate, FormatOptions, GenerateBody, Generated, GeneratedEnd, SamplingOptions,
    SglangGenerated, SglangRequest, StreamedToken, WireUsage, WithFormat,
};

/// The length where the request has none.
const DEFAULT_MAX_TOKENS: usize = 256;

/// A request in the words of this server, which has a `prompt`, or in those of SGLang, which has
/// `text` or `input_ids`.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
pub(super) enum AnyRequest {
    Own(GenerateBody, SamplingOptions, FormatOptions),
    Sglang(SglangRequest),
}

impl FromRequest<App> for AnyRequest {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        const OWN: [&str; 1] = ["max_tokens"];
        const OF_SGLANG: [&str; 1] = ["sampling_params"];
        let heeded = [formats::FIELDS, &OWN, &OF_SGLANG].concat();
        let body = read_object(request, app, &heeded).await?;
        let has = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
        if !has("prompt") && (has("text") || has("input_ids")) {
            unsupported::check(&body, &OF_SGLANG)?;
            return parse(&body).map(Self::Sglang);
        }
        unsupported::check(&body, &[formats::FIELDS, &OWN].concat())?;
        Ok(Self::Own(parse(&body)?, parse(&body)?, parse(&body)?))
    }
}

/// The forms of a request.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, clippy::large_enum_variant, reason = "only described")]
pub(super) enum AnyBody {
    Own(WithFormat<GenerateBody>),
    Sglang(SglangRequest),
}

/// The forms of an answer: that of the request.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only described")]
pub(super) enum AnyGenerated {
    Own(Generated),
    Sglang(SglangGenerated),
    SglangList(Vec<SglangGenerated>),
}

/// Continues a prompt: in the words of this server, or in those of SGLang.
#[utoipa::path(post, path = "/generate", request_body = AnyBody, responses(
    (status = 200, content((AnyGenerated = "application/json"), (StreamEvent = "text/event-stream"))),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn generate(
    State(app): State<App>,
    request: AnyRequest,
) -> Result<Response, ApiError> {
    match request {
        AnyRequest::Own(body, sampling, format) => go_on(app, body, sampling, format).await,
        AnyRequest::Sglang(request) => sglang::generate(app, request).await,
    }
}

// ANCHOR: generate
/// Continues a prompt.
async fn go_on(
    app: App,
    body: GenerateBody,
    sampling: SamplingOptions,
    format: FormatOptions,
) -> Result<Response, ApiError> {
    let service = app.service()?.clone();
    let prompt = ("prompt", service.prompt_ids(body.prompt).await?);
    let asked = ("max_tokens", body.max_tokens);
    let request = generate_request(&app, prompt, asked, Some(DEFAULT_MAX_TOKENS), &sampling)?;
    let constraint = formats::grammar(&service, Format::of(format)?).await?;
    let request = GenerateRequest { logprobs: body.logprobs, ..request };
    let updates = Updates::start(&app, &service, vec![request], constraint).await?;
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
            Update::Prompt(_) => Vec::new(),
            Update::Token(token) => vec![sse::json(&streamed(&self.0, token))],
            Update::End(completion) => vec![sse::json(&end(&completion))],
        }
    }
}
