//! `/generate` in the words of SGLang.

use std::sync::Arc;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use slowburn::inference::{Completion, FinishReason, GenerateRequest, TokenOutput};
use uuid::Uuid;

use crate::blocking::blocking;
use crate::error::ApiError;
use crate::formats::{self, Format};
use crate::json::parse;
use crate::reply;
use crate::request::{check_sequences, find_model, generate_request, with_seeds};
use crate::service::Service;
use crate::sse::{self, EventResult};
use crate::state::App;
use crate::unsupported::{Field, OF_SAMPLERS, check_fields, check_part};
use crate::updates::{Update, Updates};
use crate::wire::{
    SamplingOptions, SglangFinish, SglangGenerated, SglangLogprob, SglangMeta, SglangPrompt,
    SglangRequest, SglangSampling,
};

/// The length where the request has none, as in SGLang.
const DEFAULT_MAX_TOKENS: usize = 128;

/// What SGLang can do beyond text.
const UNSUPPORTED: &[Field] = &[
    ("input_embeds", &[]),
    ("image_data", &["[]"]),
    ("video_data", &["[]"]),
    ("audio_data", &["[]"]),
    ("logprob_start_len", &["-1"]),
    ("token_ids_logprob", &["[]"]),
    ("session_params", &["{}"]),
    ("lora_path", &["[]"]),
    ("lora_id", &["[]"]),
    ("custom_logit_processor", &["[]"]),
    ("return_hidden_states", &["false"]),
    ("return_entropy", &["false"]),
    ("background", &["false"]),
    ("bootstrap_host", &[]),
];

/// What SGLang's sampler can do beyond others.
const UNSUPPORTED_SAMPLING: &[Field] = &[("custom_params", &["{}"])];

/// The fields of `sampling_params` that would be refused elsewhere.
const HEEDED: [&str; 4] = ["max_new_tokens", "n", "json_schema", "regex"];

/// Continues prompts.
pub(super) async fn generate(app: App, request: SglangRequest) -> Result<Response, ApiError> {
    let service = app.service()?.clone();
    let asked_model = find_model(&app, request.model.as_deref())?;
    check_fields(UNSUPPORTED, &request.other, "")?;
    // They are in `sampling_params`, and without effect beside it.
    check_fields(&OF_SAMPLERS, &request.other, "")?;
    let params = request.sampling_params.unwrap_or_default();
    check_fields(UNSUPPORTED_SAMPLING, &params, "sampling_params.")?;
    check_part(&params, &HEEDED, "sampling_params.")?;
    let params = Value::Object(params);
    let SglangSampling { max_new_tokens, n, sampling_seed, json_schema, regex } = parse(&params)?;
    let options: SamplingOptions = parse(&params)?;
    let options = SamplingOptions { seed: options.seed.or(sampling_seed), ..options };

    let constraint = formats::grammar(&service, Format::of_sglang(json_schema, regex)?).await?;

    let (text, input_ids, of_prompts) = (request.text, request.input_ids, service.clone());
    let prompts = blocking(move || prompts(&of_prompts, text, input_ids)).await??;
    let (place, prompts, is_list) = prompts;
    let n = n.unwrap_or(1);
    check_sequences(&app, prompts.len().saturating_mul(n))?;
    let wants_logprobs = request.return_logprob.unwrap_or(false);
    let logprobs = wants_logprobs.then(|| request.top_logprobs_num.unwrap_or(0));
    let mut sequences = Vec::new();
    for ids in &prompts {
        let (asked, default) = (("max_new_tokens", max_new_tokens), Some(DEFAULT_MAX_TOKENS));
        let base = generate_request(&app, (place, ids.clone()), asked, default, &options)?;
        let adapter = asked_model.adapter.clone();
        let base = GenerateRequest { logprobs, adapter, ..base };
        sequences.extend(with_seeds(base, n));
    }

    let count = sequences.len();
    let is_list = is_list || n > 1;
    let texts = Texts {
        service: service.clone(),
        id: request.rid.unwrap_or_else(|| Uuid::new_v4().simple().to_string()),
        prompts: prompts.iter().flat_map(|ids| std::iter::repeat_n(ids.len(), n)).collect(),
        so_far: vec![Vec::new(); count],
        is_list,
        logprobs,
        wants_texts: request.return_text_in_logprobs.unwrap_or(false),
    };
    let updates = Updates::start(&app, &service, sequences, constraint).await?;
    if request.stream.unwrap_or(false) {
        return Ok(sse::respond(updates, texts));
    }
    let replies = reply::collect(updates, count).await?;
    let whole = |(index, reply): (usize, reply::Reply)| {
        texts.generated(index, &reply.tokens, Some(&reply.completion))
    };
    Ok(answer(replies.into_iter().enumerate().map(whole).collect(), is_list))
}

/// The texts as a list, or the only one by itself.
fn answer(mut generated: Vec<SglangGenerated>, is_list: bool) -> Response {
    match (is_list, generated.pop()) {
        (false, Some(only)) => Json(only).into_response(),
        (_, last) => Json(generated.into_iter().chain(last).collect::<Vec<_>>()).into_response(),
    }
}

/// The field that the prompts are in, their token ids, and whether they came as a list.
fn prompts(
    service: &Service,
    text: Option<SglangPrompt<String>>,
    input_ids: Option<SglangPrompt<Vec<u32>>>,
) -> Result<(&'static str, Vec<Vec<u32>>, bool), ApiError> {
    let (name, (prompts, is_list)) = match (text, input_ids) {
        (Some(text), None) => {
            let (texts, is_list) = text.into_list();
            let ids: slowburn::error::Result<Vec<_>> =
                texts.iter().map(|text| of_text(service, text)).collect();
            (
                "text",
                (ids.map_err(|error| ApiError::from(error).with_param("text"))?, is_list),
            )
        }
        (None, Some(input_ids)) => ("input_ids", input_ids.into_list()),
        _ => {
            let message = "one of `text` and `input_ids` is needed, and only one";
            return Err(ApiError::bad_request("invalid_value", message));
        }
    };
    if prompts.is_empty() {
        return Err(ApiError::invalid(name, format!("{name} is an empty list: give at least one")));
    }
    Ok((name, prompts, is_list))
}

fn of_text(service: &Service, text: &str) -> slowburn::error::Result<Vec<u32>> {
    let ids = service.pretrained.prompt_ids(text)?;
    // Before the next one is read: to find the tokens of a long text takes time.
    service.pretrained.model.check_prompt(&ids)?;
    Ok(ids)
}

/// The texts of a request, as they grow.
struct Texts {
    service: Arc<Service>,
    id: String,
    /// The tokens of the prompt of each text.
    prompts: Vec<usize>,
    /// The tokens of each text, in a stream.
    so_far: Vec<Vec<TokenOutput>>,
    is_list: bool,
    logprobs: Option<usize>,
    wants_texts: bool,
}

impl Texts {
    /// A text with these tokens; `end` is there at its end.
    fn generated(
        &self,
        index: usize,
        tokens: &[TokenOutput],
        end: Option<&Completion>,
    ) -> SglangGenerated {
        let logprob = |&(id, logprob): &(u32, f32)| {
            SglangLogprob(logprob, id, self.wants_texts.then(|| self.service.token_text(id)))
        };
        let chosen =
            |token: &TokenOutput| logprob(&(token.token_id, token.logprob.unwrap_or_default()));
        let top = |token: &TokenOutput| token.top_logprobs.iter().map(logprob).collect();
        let wants_top = self.logprobs.is_some_and(|top| top > 0);
        SglangGenerated {
            text: tokens.iter().map(|token| token.token.as_str()).collect(),
            output_ids: tokens.iter().map(|token| token.token_id).collect(),
            meta_info: SglangMeta {
                id: self.id.clone(),
                finish_reason: end.and_then(|end| self.finish(end)),
                prompt_tokens: self.prompts[index],
                completion_tokens: tokens.len(),
                cached_tokens: end.map_or(0, |end| end.usage.cached_tokens),
                e2e_latency: end.map(|end| end.timings.total.as_secs_f64()),
                output_token_logprobs: self.logprobs.map(|_| tokens.iter().map(chosen).collect()),
                output_top_logprobs: wants_top.then(|| tokens.iter().map(top).collect()),
            },
            index: self.is_list.then_some(index),
        }
    }

    /// None where the server ended the text, which is an error.
    fn finish(&self, end: &Completion) -> Option<SglangFinish> {
        match &end.finish_reason {
            FinishReason::Eos => {
                // Which one it was is known where there is one only.
                let matched = match &self.service.pretrained.model.config().eos_token_ids[..] {
                    [only] => json!(only),
                    _ => Value::Null,
                };
                Some(SglangFinish::Stop { matched })
            }
            FinishReason::StopId(id) => Some(SglangFinish::Stop { matched: json!(id) }),
            FinishReason::StopString(text) => Some(SglangFinish::Stop { matched: json!(text) }),
            FinishReason::Length | FinishReason::Context | FinishReason::Deadline => {
                Some(SglangFinish::Length { length: end.usage.completion_tokens })
            }
            FinishReason::Stopped | FinishReason::Cancelled | FinishReason::Shutdown => None,
        }
    }
}

impl sse::Encoder for Texts {
    fn update(&mut self, index: usize, update: Update) -> Vec<EventResult> {
        let end = match update {
            Update::Prompt(_) => return Vec::new(), // nobody has asked
            Update::Token(token) => {
                self.so_far[index].push(token);
                None
            }
            Update::End(completion) => Some(completion),
        };
        vec![sse::json(&self.generated(
            index,
            &self.so_far[index],
            end.as_ref(),
        ))]
    }

    fn end(&mut self) -> Vec<EventResult> {
        vec![sse::done()]
    }
}
