//! `/v1/responses`: OpenAI's newer route for texts and conversations to answer.

mod stream;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use slowburn::inference::{Completion, GenerateRequest, TokenOutput};
use slowburn::tokenizer::{Message, Role};
use uuid::Uuid;

use self::stream::Encoder;
use super::chat::token_logprob;
use super::refusals::{BodyRefusals, Refusals};
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::formats::Format;
use crate::json::{SampledJson, parse_at};
use crate::reply;
use crate::request::{check_model, generate_request};
use crate::service::Service;
use crate::sse;
use crate::state::{App, unix_time};
use crate::unsupported::{Field, check_fields};
use crate::updates::Updates;
use crate::wire::{
    ChatTokenLogprob, Incomplete, InputItem, OutputMessage, OutputText, ResponseEvent,
    ResponseObject, ResponseRequest, ResponseStatus, WireFinish, WireUsage, WithSampling,
};

/// What OpenAI's server can do beyond text from text. Nothing is kept here, so that no request can
/// go on from another.
const UNSUPPORTED: &[Field] = &[
    ("previous_response_id", &[]),
    ("conversation", &[]),
    ("background", &["false"]),
    ("tools", &["[]"]),
    ("tool_choice", &[r#""none""#, r#""auto""#]),
    ("prompt", &[]),
    ("truncation", &[r#""disabled""#]),
];

/// Answers a text or a conversation.
#[utoipa::path(post, path = "/v1/responses", operation_id = "respond",
    request_body = WithSampling<ResponseRequest>, responses(
    (status = 200, content((ResponseObject = "application/json"), (ResponseEvent = "text/event-stream"))),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn respond(
    State(app): State<App>,
    SampledJson(request, sampling): SampledJson<ResponseRequest>,
) -> Result<Response, ApiError> {
    let service = app.service()?.clone();
    check_model(&app, request.model.as_deref())?;
    check_fields(UNSUPPORTED, &request.other, "")?;
    let format = request.other.get("text").and_then(|text| text.get("format"));
    let format = format.filter(|format| !format.is_null());
    let grammar = match format.map_or(Ok(None), Format::of_response)? {
        Some(format) => Some(format.compiled(&service).await?),
        None => None,
    };
    let messages = messages(request.instructions.as_deref(), request.input)?;
    let of_chat = service.clone();
    let prompt = move || {
        let ids = of_chat.chat_ids(&messages, &[], false)?;
        of_chat.pretrained.model.check_prompt(&ids)?;
        Ok(ids)
    };
    let ids: Result<_, ApiError> = blocking(prompt).await?;
    let ids = ids.map_err(|error| error.with_param("input"))?;
    let wants_logprobs = request
        .include
        .is_some_and(|include| include.iter().any(|name| name == "message.output_text.logprobs"));
    let top_logprobs = request.top_logprobs.unwrap_or(0);
    let base = generate_request(&app, ids, request.max_output_tokens, None, &sampling)?;
    let logprobs = (wants_logprobs || top_logprobs > 0).then_some(top_logprobs);
    let sequence = GenerateRequest { logprobs, grammar, ..base };
    let updates = Updates::start(&app, &service, vec![sequence]).await?;

    let answer = Answer {
        service,
        id: format!("resp_{}", Uuid::new_v4().simple()),
        message_id: format!("msg_{}", Uuid::new_v4().simple()),
        created_at: unix_time(),
        model: app.name().to_owned(),
        instructions: request.instructions,
        max_output_tokens: request.max_output_tokens,
        metadata: request.metadata.unwrap_or_default(),
        temperature: sampling.temperature.unwrap_or(1.0),
        top_p: sampling.top_p.unwrap_or(1.0),
        logprobs,
    };
    if request.stream.unwrap_or(false) {
        return Ok(sse::respond(updates, Encoder::new(answer)));
    }
    let reply = reply::collect(updates, 1).await?.swap_remove(0);
    let logprobs = answer.token_logprobs(&reply.tokens);
    Ok(Json(answer.ended(reply.text(), logprobs, &reply.completion)?).into_response())
}

/// The messages of a request, each parsed by itself so that an error names its place.
fn messages(instructions: Option<&str>, input: Value) -> Result<Vec<Message>, ApiError> {
    let mut messages: Vec<Message> =
        instructions.map(|text| Message::new(Role::System, text)).into_iter().collect();
    match input {
        Value::String(text) => messages.push(Message::new(Role::User, text)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let InputItem { role, content, .. } = parse_at(&format!("input[{index}]"), item)?;
                messages.push(Message::new(role.into(), content.into_text()));
            }
            if items.is_empty() {
                let message = "input is an empty list: give a text or a message";
                return Err(ApiError::invalid("input", message));
            }
        }
        _ => {
            let message = "input is a string, or a list of messages";
            return Err(ApiError::invalid("input", message));
        }
    }
    Ok(messages)
}

/// What all states of an answer have in common.
struct Answer {
    service: Arc<Service>,
    id: String,
    message_id: String,
    created_at: u64,
    model: String,
    instructions: Option<String>,
    max_output_tokens: Option<i64>,
    metadata: BTreeMap<String, String>,
    temperature: f64,
    top_p: f64,
    logprobs: Option<usize>,
}

impl Answer {
    /// The answer as it is before its text.
    fn begun(&self) -> ResponseObject {
        ResponseObject {
            id: self.id.clone(),
            object: "response",
            created_at: self.created_at,
            status: ResponseStatus::InProgress,
            background: false,
            error: None,
            incomplete_details: None,
            instructions: self.instructions.clone(),
            max_output_tokens: self.max_output_tokens,
            metadata: self.metadata.clone(),
            model: self.model.clone(),
            output: Vec::new(),
            parallel_tool_calls: false,
            previous_response_id: None,
            store: false,
            temperature: self.temperature,
            tool_choice: "none",
            tools: [],
            top_logprobs: self.logprobs.unwrap_or(0),
            top_p: self.top_p,
            truncation: "disabled",
            usage: None,
        }
    }

    /// The answer with its text.
    fn ended(
        &self,
        text: String,
        logprobs: Vec<ChatTokenLogprob>,
        completion: &Completion,
    ) -> Result<ResponseObject, ApiError> {
        let ended = || ApiError::internal("a sequence was ended by the server");
        let finish = WireFinish::of(&completion.finish_reason).ok_or_else(ended)?;
        let is_whole = finish == WireFinish::Stop;
        let status = if is_whole {
            ResponseStatus::Completed
        } else {
            ResponseStatus::Incomplete
        };
        let mut usage = WireUsage::default();
        usage.add(&completion.usage, true);
        Ok(ResponseObject {
            status,
            incomplete_details: (!is_whole).then_some(Incomplete { reason: "max_output_tokens" }),
            output: vec![self.message(status, vec![part(text, logprobs)])],
            usage: Some(usage.into()),
            ..self.begun()
        })
    }

    fn message(&self, status: ResponseStatus, content: Vec<OutputText>) -> OutputMessage {
        OutputMessage {
            id: self.message_id.clone(),
            kind: "message",
            role: "assistant",
            status,
            content,
        }
    }

    fn token_logprobs(&self, tokens: &[TokenOutput]) -> Vec<ChatTokenLogprob> {
        if self.logprobs.is_none() {
            return Vec::new();
        }
        tokens.iter().map(|token| token_logprob(&self.service, token)).collect()
    }
}

fn part(text: String, logprobs: Vec<ChatTokenLogprob>) -> OutputText {
    OutputText { kind: "output_text", text, annotations: [], logprobs }
}
