//! `/v1/chat/completions`: conversations to answer.

mod stream;

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use slowburn::inference::{GenerateRequest, TokenOutput};
use slowburn::tokenizer::{ChatEnding, Message, ToolCall};
use uuid::Uuid;

use self::stream::Encoder;
use super::refusals::{BodyRefusals, Refusals, StreamEvent};
use crate::conversation;
use crate::error::ApiError;
use crate::formats::{self, Format};
use crate::json::{parse, read_object};
use crate::reply::{self, Reply};
use crate::request::{Asked, check_sequences, find_model, generate_request, with_seeds};
use crate::service::Service;
use crate::sse;
use crate::state::{App, unix_time};
use crate::tools::{self, AnswerSplitter, Piece, Toolbox, call_id};
use crate::unsupported::OF_TEMPLATES;
use crate::updates::Updates;
use crate::wire::{
    ChatChoice, ChatCompletion, ChatCompletionRequest, ChatLogprobs, ChatMessage, ChatTokenLogprob,
    Content, DescribedChat, FormatOptions, ReplyMessage, SamplingOptions, SentToolCall,
    TemplateOptions, ToolKind, TopLogprob, WireFinish, WireFunctionCall, WireToolCall, WireUsage,
};

const ASSISTANT: &str = "assistant";

/// A request, in its parts.
pub(super) struct ChatBody {
    request: ChatCompletionRequest,
    sampling: SamplingOptions,
    format: FormatOptions,
    template: TemplateOptions,
}

impl FromRequest<App> for ChatBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        const HEEDED: [&str; 9] = [
            "max_reasoning_tokens",
            "thinking_token_budget",
            "tools",
            "tool_choice",
            "messages.tool_calls",
            "max_tokens",
            "max_completion_tokens",
            "n",
            "add_special_tokens",
        ];
        let heeded = [&HEEDED[..], formats::FIELDS, &OF_TEMPLATES].concat();
        let body = read_object(request, app, &heeded).await?;
        let request: ChatCompletionRequest = parse(&body)?;
        check_no_special(request.add_special_tokens)?;
        Ok(Self {
            request,
            sampling: parse(&body)?,
            format: parse(&body)?,
            template: parse(&body)?,
        })
    }
}

/// Refuses special tokens besides those of the template.
pub(super) fn check_no_special(add_special_tokens: Option<bool>) -> Result<(), ApiError> {
    if add_special_tokens != Some(true) {
        return Ok(());
    }
    let message = "add_special_tokens must be false for messages: a chat template writes all special tokens itself";
    Err(ApiError::invalid("add_special_tokens", message))
}

/// Answers a conversation.
#[utoipa::path(post, path = "/v1/chat/completions", operation_id = "chat", request_body = DescribedChat, responses(
    (status = 200, content((ChatCompletion = "application/json"), (StreamEvent = "text/event-stream"))),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn complete(
    State(app): State<App>,
    ChatBody { request, sampling, format, template }: ChatBody,
) -> Result<Response, ApiError> {
    let service = app.service()?.clone();
    let asked_model = find_model(&app, request.model.as_deref())?;
    let n = request.n.unwrap_or(1);
    check_sequences(&app, n)?;

    let wants_logprobs = request.logprobs.unwrap_or(false);
    check_top_logprobs(request.top_logprobs, wants_logprobs)?;

    let tools = request.tools.unwrap_or_default();
    let (choice, parallel) = (request.tool_choice, request.parallel_tool_calls.unwrap_or(true));
    let toolbox = Toolbox::of(&service.pretrained, &tools, choice.as_ref(), parallel, ".function")?;
    let format = Format::of(format)?;
    let has_format = format.is_some();
    let constraint = tools::grammar(&service, toolbox.as_ref(), format).await?;

    let parse_special = request.parse_special.unwrap_or(false);
    let options = conversation::options(&service, template, &request.messages, parse_special)?;
    let messages: Vec<Message> = request.messages.into_iter().map(message).collect();
    let continued = match options.ending {
        ChatEnding::Continued => messages.last().and_then(|message| message.content.clone()),
        _ => None,
    };
    let ids = service.conversation_ids("messages", messages, tools, options).await?;
    let mut splitter = tools::splitter(&service, &ids, toolbox.as_ref(), has_format);
    splitter.skip(&continued.unwrap_or_default());
    let reasoning = splitter.reasoning(constraint.is_some(), request.max_reasoning_tokens)?;
    let max_tokens = match request.max_completion_tokens {
        None => ("max_tokens", request.max_tokens),
        newer => ("max_completion_tokens", newer),
    };
    let logprobs = wants_logprobs.then(|| request.top_logprobs.unwrap_or(0));
    let base = generate_request(&app, ("messages", ids), max_tokens, None, &sampling)?;
    let Asked { name, adapter } = asked_model;
    let base = GenerateRequest { logprobs, adapter, reasoning, ..base };
    let sequences = with_seeds(base, n).collect();
    let updates = Updates::start(&app, &service, sequences, constraint).await?;

    let answer = Answer::new(name, service, logprobs.is_some(), splitter);
    if request.stream.unwrap_or(false) {
        let wants_usage = request.stream_options.and_then(|options| options.include_usage);
        let encoder = Encoder::new(answer, n, wants_usage.unwrap_or(false));
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
pub(super) fn message(message: ChatMessage) -> Message {
    let reasoning = message.reasoning().map(|(_, text)| text.to_owned());
    let calls = message.tool_calls.into_iter().flatten();
    Message {
        tool_calls: calls.map(tool_call).collect(),
        tool_call_id: message.tool_call_id,
        reasoning,
        name: message.name,
        content: message.content.map(Content::into_text),
        ..Message::new(message.role.into(), "")
    }
}

fn tool_call(SentToolCall { id, function, .. }: SentToolCall) -> ToolCall {
    tools::call(id, function.name, function.arguments)
}

/// What all parts of an answer have in common.
struct Answer {
    service: Arc<Service>,
    id: String,
    created: u64,
    model: String,
    wants_logprobs: bool,
    /// Finds thoughts and calls of tools; it has read nothing.
    splitter: AnswerSplitter,
}

impl Answer {
    fn new(
        model: String,
        service: Arc<Service>,
        wants_logprobs: bool,
        splitter: AnswerSplitter,
    ) -> Self {
        Self {
            service,
            id: format!("chatcmpl-{}", Uuid::new_v4().simple()),
            created: unix_time(),
            model,
            wants_logprobs,
            splitter,
        }
    }

    fn whole(self, replies: Vec<Reply>) -> Result<ChatCompletion, ApiError> {
        let mut usage = WireUsage::default();
        let mut choices = Vec::new();
        for (index, reply) in replies.into_iter().enumerate() {
            usage.add(&reply.completion.usage, index == 0);
            let ended = || ApiError::internal("a sequence was ended by the server");
            let reason = WireFinish::of(&reply.completion.finish_reason).ok_or_else(ended)?;
            let (message, thought_tokens) = self.message(&reply.tokens);
            usage.add_thoughts(thought_tokens);
            let finish_reason = finish(reason, !message.tool_calls.is_empty());
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

    /// The message of these tokens, and how many of them are thoughts.
    fn message(&self, tokens: &[TokenOutput]) -> (ReplyMessage, usize) {
        let mut splitter = self.splitter.clone();
        let mut pieces: Vec<Piece> = tokens.iter().flat_map(|token| splitter.push(token)).collect();
        pieces.extend(splitter.finish());
        let (mut content, mut tool_calls) = (String::new(), Vec::<WireToolCall>::new());
        let mut reasoning_content = None::<String>;
        for piece in pieces {
            match (piece, tool_calls.last_mut()) {
                (Piece::Thought(text), _) => {
                    reasoning_content.get_or_insert_default().push_str(&text);
                }
                (Piece::Text(text), _) => content.push_str(&text),
                (Piece::Call { name, id }, _) => tool_calls.push(WireToolCall {
                    id: id.unwrap_or_else(call_id),
                    kind: ToolKind::Function,
                    function: WireFunctionCall { name, arguments: String::new() },
                }),
                (Piece::Arguments(text), call) => {
                    call.into_iter().for_each(|call| call.function.arguments.push_str(&text));
                }
            }
        }
        let content = (!content.is_empty() || tool_calls.is_empty()).then_some(content);
        let message = ReplyMessage { role: ASSISTANT, content, reasoning_content, tool_calls };
        (message, splitter.thought_tokens())
    }

    fn logprobs(&self, tokens: &[TokenOutput]) -> Option<ChatLogprobs> {
        let token = |token| token_logprob(&self.service, token);
        let content = || tokens.iter().map(token).collect();
        self.wants_logprobs.then(|| ChatLogprobs { content: content() })
    }
}

/// Why an answer ended. One that ended by itself, and has calls, ended for them.
fn finish(reason: WireFinish, has_calls: bool) -> WireFinish {
    match reason {
        WireFinish::Stop if has_calls => WireFinish::ToolCalls,
        reason => reason,
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
