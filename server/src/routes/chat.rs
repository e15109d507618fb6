//! `/v1/chat/completions`: conversations to answer.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use slowburn::inference::{GenerateRequest, TokenOutput};
use slowburn::tokenizer::Message;
use uuid::Uuid;

use super::refusals::{BodyRefusals, Refusals, StreamEvent};
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::json::SampledJson;
use crate::reply::{self, Reply};
use crate::request::{check_model, check_sequences, generate_request, with_seeds};
use crate::service::Service;
use crate::sse::{self, EventResult};
use crate::state::{App, unix_time};
use crate::updates::{Update, Updates};
use crate::wire::{
    ChatChoice, ChatChunk, ChatChunkChoice, ChatCompletion, ChatCompletionRequest, ChatLogprobs,
    ChatMessage, ChatTokenLogprob, Content, Delta, ReplyMessage, TopLogprob, WireFinish, WireUsage,
    WithSampling,
};

const ASSISTANT: &str = "assistant";

/// Answers a conversation.
#[utoipa::path(post, path = "/v1/chat/completions", operation_id = "chat", request_body = WithSampling<ChatCompletionRequest>, responses(
    (status = 200, content((ChatCompletion = "application/json"), (StreamEvent = "text/event-stream"))),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn complete(
    State(app): State<App>,
    SampledJson(request, sampling): SampledJson<ChatCompletionRequest>,
) -> Result<Response, ApiError> {
    let service = app.service()?.clone();
    check_model(&app, request.model.as_deref())?;
    let n = request.n.unwrap_or(1);
    check_sequences(&app, n)?;

    let wants_logprobs = request.logprobs.unwrap_or(false);
    check_top_logprobs(request.top_logprobs, wants_logprobs)?;

    let messages: Vec<Message> = request.messages.into_iter().map(message).collect();
    let (of_chat, parse_special) = (service.clone(), request.parse_special.unwrap_or(false));
    let ids = blocking(move || of_chat.chat_ids(&messages, parse_special)).await??;
    let max_tokens = request.max_completion_tokens.or(request.max_tokens);
    let logprobs = wants_logprobs.then(|| request.top_logprobs.unwrap_or(0));
    let base = generate_request(&app, ids, max_tokens, None, &sampling)?;
    let sequences = with_seeds(GenerateRequest { logprobs, ..base }, n).collect();
    let updates = Updates::start(&app, &service, sequences).await?;

    let answer = Answer {
        service,
        id: format!("chatcmpl-{}", Uuid::new_v4().simple()),
        created: unix_time(),
        model: app.name().to_owned(),
        wants_logprobs: logprobs.is_some(),
    };
    if request.stream.unwrap_or(false) {
        let wants_usage = request.stream_options.and_then(|options| options.include_usage);
        let encoder = Encoder {
            answer,
            begun: vec![false; n],
            usage: WireUsage::default(),
            wants_usage: wants_usage.unwrap_or(false),
        };
        return Ok(sse::respond(updates, encoder));
    }
    Ok(Json(answer.whole(reply::collect(updates, n).await?)?).into_response())
}

/// Checks fields that depend on each other.
fn check_top_logprobs(top: Option<usize>, wants_logprobs: bool) -> Result<(), ApiError> {
    match top {
        Some(1..) if !wants_logprobs => {
            let message = "top_logprobs needs \"logprobs\": true beside it";
            Err(ApiError::invalid("top_logprobs", message))
        }
        _ => Ok(()),
    }
}

/// A message for the library.
pub(super) fn message(ChatMessage { role, content }: ChatMessage) -> Message {
    Message::new(role.into(), content.map_or_else(String::new, Content::into_text))
}

/// What all parts of an answer have in common.
struct Answer {
    service: Arc<Service>,
    id: String,
    created: u64,
    model: String,
    wants_logprobs: bool,
}

impl Answer {
    fn whole(self, replies: Vec<Reply>) -> Result<ChatCompletion, ApiError> {
        let mut usage = WireUsage::default();
        let mut choices = Vec::new();
        for (index, reply) in replies.into_iter().enumerate() {
            usage.add(&reply.completion.usage, index == 0);
            let ended = || ApiError::internal("a sequence was ended by the server");
            let finish_reason =
                WireFinish::of(&reply.completion.finish_reason).ok_or_else(ended)?;
            let message = ReplyMessage { role: ASSISTANT, content: reply.text() };
            let logprobs = self.logprobs(&reply.tokens);
            choices.push(ChatChoice { index, message, logprobs, finish_reason });
        }
        let Self { id, created, model, .. } = self;
        Ok(ChatCompletion {
            id,
            object: "chat.completion",
            created,
            model,
            choices,
            usage,
        })
    }

    fn logprobs(&self, tokens: &[TokenOutput]) -> Option<ChatLogprobs> {
        let token = |token| token_logprob(&self.service, token);
        let content = || tokens.iter().map(token).collect();
        self.wants_logprobs.then(|| ChatLogprobs { content: content() })
    }
}

/// The log-probability of a token, and those of the most likely ones.
pub(super) fn token_logprob(service: &Service, token: &TokenOutput) -> ChatTokenLogprob {
    let entry = |&(id, logprob): &(u32, f32)| TopLogprob {
        token: service.token_text(id),
        logprob,
        bytes: service.pretrained.tokenizer.token_bytes(id),
    };
    ChatTokenLogprob {
        chosen: entry(&(token.token_id, token.logprob.unwrap_or_default())),
        top_logprobs: token.top_logprobs.iter().map(entry).collect(),
    }
}

/// Writes the chunks of a stream.
struct Encoder {
    answer: Answer,
    /// Which choices have begun.
    begun: Vec<bool>,
    usage: WireUsage,
    wants_usage: bool,
}

impl Encoder {
    fn chunk(&self, choices: Vec<ChatChunkChoice>, usage: Option<WireUsage>) -> EventResult {
        sse::json(&ChatChunk {
            id: self.answer.id.clone(),
            object: "chat.completion.chunk",
            created: self.answer.created,
            model: self.answer.model.clone(),
            choices,
            usage: self.wants_usage.then_some(usage),
        })
    }

    fn choice(
        &self,
        index: usize,
        delta: Delta,
        logprobs: Option<ChatLogprobs>,
        finish_reason: Option<WireFinish>,
    ) -> EventResult {
        self.chunk(vec![ChatChunkChoice { index, delta, logprobs, finish_reason }], None)
    }

    /// The role, before the first token of a choice.
    fn begin(&mut self, index: usize) -> Option<EventResult> {
        let is_new = !std::mem::replace(&mut self.begun[index], true);
        let delta = Delta { role: Some(ASSISTANT), content: Some(String::new()) };
        is_new.then(|| self.choice(index, delta, None, None))
    }
}

// ANCHOR: encoder
impl sse::Encoder for Encoder {
    fn update(&mut self, index: usize, update: Update) -> Vec<EventResult> {
        let mut events: Vec<_> = self.begin(index).into_iter().collect();
        match update {
            Update::Prompt(_) => {}
            Update::Token(token) => {
                let logprobs = self.answer.logprobs(std::slice::from_ref(&token));
                if !token.token.is_empty() || logprobs.is_some() {
                    let delta = Delta { content: Some(token.token), ..Delta::default() };
                    events.push(self.choice(index, delta, logprobs, None));
                }
            }
            Update::End(completion) => {
                self.usage.add(&completion.usage, index == 0);
                let reason = WireFinish::of(&completion.finish_reason);
                events.push(self.choice(index, Delta::default(), None, reason));
            }
        }
        events
    }

    fn end(&mut self) -> Vec<EventResult> {
        let usage = self.wants_usage.then(|| self.chunk(Vec::new(), Some(self.usage)));
        usage.into_iter().chain([sse::done()]).collect()
    }
}
// ANCHOR_END: encoder
