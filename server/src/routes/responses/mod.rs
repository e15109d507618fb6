//! `/v1/responses`: OpenAI's newer route for texts and conversations to answer.

mod input;
mod output;
mod stream;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use slowburn::inference::{Completion, GenerateRequest, TokenOutput};
use uuid::Uuid;

use self::output::{Events, Output};
use self::stream::Encoder;
use super::chat::token_logprob;
use super::refusals::{BodyRefusals, Refusals};
use crate::conversation;
use crate::error::ApiError;
use crate::formats::Format;
use crate::json::SampledJson;
use crate::reply;
use crate::request::{Asked, find_model, generate_request};
use crate::service::Service;
use crate::sse;
use crate::state::{App, unix_time};
use crate::tools::{self, Toolbox};
use crate::unsupported::{Field, check_fields};
use crate::updates::Updates;
use crate::wire::{
    ChatTokenLogprob, FlatToolChoice, Incomplete, ResponseEvent, ResponseObject, ResponseRequest,
    ResponseStatus, SamplingOptions, TemplateOptions, Tool, ToolChoice, ToolMode, WireFinish,
    WireUsage, WithSampling,
};

/// What OpenAI's server can do beyond text from text. Nothing is kept here, so that no request can
/// go on from another.
const UNSUPPORTED: &[Field] = &[
    ("previous_response_id", &[]),
    ("conversation", &[]),
    ("background", &["false"]),
    ("prompt", &[]),
    ("truncation", &[r#""disabled""#]),
];

/// The same, within objects of a request.
const UNSUPPORTED_WITHIN: [(&str, &[Field]); 2] = [
    ("text", &[("verbosity", &[r#""medium""#])]),
    (
        "reasoning",
        &[
            ("max_tokens", &[]),
            ("enabled", &["true"]),
            ("exclude", &["false"]),
        ],
    ),
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
    SampledJson(mut request, sampling): SampledJson<ResponseRequest>,
) -> Result<Response, ApiError> {
    let service = app.service()?.clone();
    let asked_model = find_model(&app, request.model.as_deref())?;
    check_fields(UNSUPPORTED, &request.other, "")?;
    for (name, unsupported) in UNSUPPORTED_WITHIN {
        match request.other.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(fields)) => check_fields(unsupported, fields, &format!("{name}."))?,
            Some(_) => return Err(ApiError::invalid(name, format!("{name} must be an object"))),
        }
    }
    let tools: Vec<Tool> = request.tools.iter().flatten().cloned().map(Tool::from).collect();
    let choice = request.tool_choice.clone().map(ToolChoice::from);
    let is_parallel = request.parallel_tool_calls.unwrap_or(true);
    let toolbox = Toolbox::of(&service.pretrained, &tools, choice.as_ref(), is_parallel, "")?;
    let format = format(&request.other)?;
    let has_format = format.is_some();
    let constraint = tools::grammar(&service, toolbox.as_ref(), format).await?;
    let has_template = service.pretrained.tokenizer.has_chat_template();
    let instructions = request.instructions.as_deref();
    let messages = input::messages(instructions, request.input.take(), has_template)?;
    let template = TemplateOptions {
        chat_template_kwargs: request.chat_template_kwargs.take(),
        enable_thinking: request.enable_thinking,
        reasoning_effort: effort(&request.other)?,
        ..TemplateOptions::default()
    };
    let options = conversation::of_response(&service, template)?;
    let ids = service.conversation_ids("input", messages, tools, options).await?;
    let splitter = tools::splitter(&service, &ids, toolbox.as_ref(), has_format);
    let reasoning = splitter.reasoning(constraint.is_some(), request.max_reasoning_tokens)?;

    let logprobs = logprobs(request.include.as_deref(), request.top_logprobs);
    let asked = ("max_output_tokens", request.max_output_tokens);
    let base = generate_request(&app, ("input", ids), asked, None, &sampling)?;
    let Asked { name, adapter } = asked_model;
    let sequence = GenerateRequest { logprobs, adapter, reasoning, ..base };
    let updates = Updates::start(&app, &service, vec![sequence], constraint).await?;
    let is_stream = request.stream.unwrap_or(false);
    let begun = begun(name, request, &sampling, logprobs.unwrap_or(0));
    let answer = Answer { service, logprobs, begun };
    let mut output = Output::new(splitter);
    if is_stream {
        return Ok(sse::respond(updates, Encoder::new(answer, output)));
    }
    let reply = reply::collect(updates, 1).await?.swap_remove(0);
    for token in &reply.tokens {
        output.push(token, answer.token_logprobs(token));
    }
    let (_, response) = answer.ended(output, &reply.completion)?;
    Ok(Json(response).into_response())
}

/// What `text.format` asks for; None for any text.
fn format(fields: &Map<String, Value>) -> Result<Option<Format>, ApiError> {
    let format = fields.get("text").and_then(|text| text.get("format"));
    let format = format.filter(|format| !format.is_null());
    format.map_or(Ok(None), Format::of_response)
}

/// What `reasoning.effort` asks for.
fn effort(fields: &Map<String, Value>) -> Result<Option<String>, ApiError> {
    match fields.get("reasoning").and_then(|reasoning| reasoning.get("effort")) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(effort)) => Ok(Some(effort.clone())),
        Some(_) => Err(ApiError::invalid("reasoning.effort", "reasoning.effort must be a string")),
    }
}

/// How many of the most likely tokens are asked for at each place; None where no log-probabilities are.
fn logprobs(include: Option<&[String]>, top: Option<usize>) -> Option<usize> {
    let is_asked = |names: &[String]| names.iter().any(|n| n == "message.output_text.logprobs");
    let top = top.unwrap_or(0);
    (include.is_some_and(is_asked) || top > 0).then_some(top)
}

/// The answer to a request as it is before its text.
fn begun(
    model: String,
    request: ResponseRequest,
    sampling: &SamplingOptions,
    top_logprobs: usize,
) -> ResponseObject {
    ResponseObject {
        id: format!("resp_{}", Uuid::new_v4().simple()),
        object: "response",
        created_at: unix_time(),
        status: ResponseStatus::InProgress,
        background: false,
        error: None,
        incomplete_details: None,
        instructions: request.instructions,
        max_output_tokens: request.max_output_tokens,
        metadata: request.metadata.unwrap_or_default(),
        model,
        output: Vec::new(),
        parallel_tool_calls: request.parallel_tool_calls.unwrap_or(true),
        previous_response_id: None,
        store: false,
        temperature: sampling.temperature.unwrap_or(1.0),
        tool_choice: request.tool_choice.unwrap_or(FlatToolChoice::Mode(ToolMode::Auto)),
        tools: request.tools.unwrap_or_default(),
        top_logprobs,
        top_p: sampling.top_p.unwrap_or(1.0),
        truncation: "disabled",
        usage: None,
    }
}

/// What all states of an answer have in common.
struct Answer {
    service: Arc<Service>,
    logprobs: Option<usize>,
    /// As it is before its text.
    begun: ResponseObject,
}

impl Answer {
    /// The answer at its end, and what happens there.
    fn ended(
        &self,
        mut output: Output,
        completion: &Completion,
    ) -> Result<(Events, ResponseObject), ApiError> {
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
        let events = output.finish(status);
        usage.add_thoughts(output.thought_tokens());
        let response = ResponseObject {
            status,
            incomplete_details: (!is_whole).then_some(Incomplete { reason: "max_output_tokens" }),
            output: output.into_items(),
            usage: Some(usage.into()),
            ..self.begun.clone()
        };
        Ok((events, response))
    }

    fn token_logprobs(&self, token: &TokenOutput) -> Vec<ChatTokenLogprob> {
        self.logprobs.map(|_| token_logprob(&self.service, token)).into_iter().collect()
    }
}
