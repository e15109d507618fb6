//! `/v1/completions`: prompts to continue.

mod logprobs;
mod stream;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use slowburn::inference::GenerateRequest;
use slowburn::sampling::TokenLogprobs;
use slowburn::tokenizer::TextOptions;
use uuid::Uuid;

use self::logprobs::{of_prompt, push_tokens, text_offsets};
use self::stream::Encoder;
use super::refusals::{BodyRefusals, Refusals, StreamEvent};
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::formats::{self, Format};
use crate::json::FormattedJson;
use crate::reply::{self, Reply};
use crate::request::{check_sequences, find_model, generate_request, with_seeds};
use crate::service::Service;
use crate::sse;
use crate::state::{App, unix_time};
use crate::updates::Updates;
use crate::wire::{
    Completion, CompletionChoice, CompletionLogprobs, CompletionRequest, PromptInput, WireFinish,
    WireUsage, WithFormat,
};

/// The length of a completion where the request has none, as in OpenAI's API.
const DEFAULT_MAX_TOKENS: usize = 16;

/// A prompt, and where it is echoed its text.
struct PromptText {
    ids: Vec<u32>,
    echo: String,
    /// Where each token begins in the text, in characters.
    offsets: Vec<usize>,
}

/// The fields of the request that shape the answer.
struct Shape {
    id: String,
    created: u64,
    model: String,
    prompts: Vec<PromptText>,
    n: usize,
    is_echo: bool,
    logprobs: Option<usize>,
}

/// Continues prompts.
#[utoipa::path(post, path = "/v1/completions", request_body = WithFormat<CompletionRequest>, responses(
    (status = 200, content((Completion = "application/json"), (StreamEvent = "text/event-stream"))),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn complete(
    State(app): State<App>,
    FormattedJson(request, sampling, format): FormattedJson<CompletionRequest>,
) -> Result<Response, ApiError> {
    let service = app.service()?.clone();
    let asked_model = find_model(&app, request.model.as_deref())?;
    let n = request.n.unwrap_or(1);
    let best_of = request.best_of.unwrap_or(n);
    let is_stream = request.stream.unwrap_or(false);
    let is_echo = request.echo.unwrap_or(false);
    check(n, best_of, is_stream)?;

    check_sequences(&app, request.prompt.count().saturating_mul(best_of))?;

    let constraint = formats::grammar(&service, Format::of(format)?).await?;
    let (input, of_prompts) = (request.prompt, service.clone());
    let options = TextOptions {
        add_special_tokens: request.add_special_tokens.unwrap_or(true),
        parse_special: request.parse_special.unwrap_or(true),
    };
    let prompts = blocking(move || prompts(&of_prompts, input, options, is_echo)).await??;
    let mut sequences = Vec::new();
    for prompt in &prompts {
        let ids = ("prompt", prompt.ids.clone());
        let asked = ("max_tokens", request.max_tokens);
        let base = generate_request(&app, ids, asked, Some(DEFAULT_MAX_TOKENS), &sampling)?;
        let wants_prompt = request.max_tokens == Some(0) || is_echo && request.logprobs.is_some();
        let base = GenerateRequest {
            adapter: asked_model.adapter.clone(),
            // `best_of` ranks by the tokens' own log-probabilities.
            logprobs: request.logprobs.or((best_of > n).then_some(0)),
            prompt_logprobs: wants_prompt.then(|| request.logprobs.unwrap_or(0)),
            ..base
        };
        sequences.extend(with_seeds(base, best_of));
    }

    let shape = Shape {
        id: format!("cmpl-{}", Uuid::new_v4().simple()),
        created: unix_time(),
        model: asked_model.name,
        prompts,
        n,
        is_echo,
        logprobs: request.logprobs,
    };
    let count = sequences.len();
    let updates = Updates::start(&app, &service, sequences, constraint).await?;
    if is_stream {
        let wants_usage = request.stream_options.and_then(|options| options.include_usage);
        let encoder = Encoder::new(service, shape, count, wants_usage.unwrap_or(false));
        return Ok(sse::respond(updates, encoder));
    }
    let replies = reply::collect(updates, count).await?;
    Ok(Json(shape.completion(&service, replies, best_of)).into_response())
}

/// Checks fields that depend on each other.
fn check(n: usize, best_of: usize, is_stream: bool) -> Result<(), ApiError> {
    if best_of < n {
        let message = format!("best_of is {best_of}, but must be at least n, which is {n}");
        return Err(ApiError::invalid("best_of", message));
    }
    if is_stream && best_of > n {
        let message = "best_of above n cannot be streamed: the best is known at the end only";
        return Err(ApiError::invalid("best_of", message));
    }
    Ok(())
}

fn prompts(
    service: &Service,
    input: PromptInput,
    options: TextOptions,
    is_echo: bool,
) -> Result<Vec<PromptText>, ApiError> {
    let pretrained = &service.pretrained;
    let with_offsets = |ids: Vec<u32>, echo: String, has_names: bool| {
        let offsets = if is_echo {
            let named = if has_names { echo.as_str() } else { "" };
            text_offsets(pretrained, &ids, named)?
        } else {
            Vec::new()
        };
        Ok(PromptText { ids, echo, offsets })
    };
    let of_text = |text: String| {
        let ids = service.text_ids(&text, options)?;
        // Before the next one is read: to find the tokens of a long text takes time.
        pretrained.model.check_prompt(&ids)?;
        with_offsets(ids, text, options.parse_special)
    };
    let of_ids = |ids: Vec<u32>| {
        if ids.is_empty() {
            return of_text(String::new());
        }
        pretrained.model.check_prompt(&ids)?;
        let echo = if is_echo {
            pretrained.tokenizer.decode(&ids)?
        } else {
            String::new()
        };
        with_offsets(ids, echo, false)
    };
    let prompts: Result<Vec<_>, ApiError> = match input {
        PromptInput::Text(text) => of_text(text).map(|prompt| vec![prompt]),
        PromptInput::Texts(texts) => texts.into_iter().map(of_text).collect(),
        PromptInput::Ids(ids) => of_ids(ids).map(|prompt| vec![prompt]),
        PromptInput::ManyIds(many) => many.into_iter().map(of_ids).collect(),
    };
    let prompts = prompts?;
    if prompts.is_empty() {
        return Err(ApiError::invalid("prompt", "prompt is an empty list: give at least one"));
    }
    Ok(prompts)
}

impl Shape {
    /// The log-probabilities of an echoed prompt, where any are wanted.
    fn echo_logprobs(
        &self,
        service: &Service,
        prompt: &PromptText,
        scores: &[TokenLogprobs],
    ) -> Option<CompletionLogprobs> {
        (self.is_echo && self.logprobs.is_some()).then(|| of_prompt(service, prompt, scores))
    }

    fn echo<'a>(&self, prompt: &'a PromptText) -> &'a str {
        if self.is_echo { &prompt.echo } else { "" }
    }

    /// The answer. Of the replies of each prompt, the best `n`.
    fn completion(self, service: &Service, replies: Vec<Reply>, best_of: usize) -> Completion {
        let mut usage = WireUsage::default();
        let mut choices = Vec::new();
        let mut replies = replies.into_iter();
        for prompt in &self.prompts {
            let mut of_prompt: Vec<Reply> = replies.by_ref().take(best_of).collect();
            for (k, reply) in of_prompt.iter().enumerate() {
                usage.add(&reply.completion.usage, k == 0);
            }
            if best_of > self.n {
                of_prompt.sort_by(|a, b| b.mean_logprob().total_cmp(&a.mean_logprob()));
            }
            for reply in of_prompt.into_iter().take(self.n) {
                choices.push(self.choice(service, choices.len(), prompt, &reply));
            }
        }
        let Self { id, created, model, .. } = self;
        Completion {
            id,
            object: "text_completion",
            created,
            model,
            choices,
            usage,
        }
    }

    fn choice(
        &self,
        service: &Service,
        index: usize,
        prompt: &PromptText,
        reply: &Reply,
    ) -> CompletionChoice {
        let echo = self.echo(prompt);
        let finish_reason = WireFinish::of(&reply.completion.finish_reason);
        let logprobs = self.logprobs.map(|_| {
            let scores = &reply.completion.prompt_logprobs;
            let mut logprobs = self.echo_logprobs(service, prompt, scores).unwrap_or_default();
            push_tokens(&mut logprobs, service, echo.chars().count(), &reply.tokens);
            logprobs
        });
        let text = format!("{echo}{}", reply.text());
        CompletionChoice { index, text, logprobs, finish_reason }
    }
}
