//! Text to token ids, and back.

use axum::Json;
use axum::extract::{FromRequest, Request, State};
use serde_json::Value;
use slowburn::error::{Error, RequestError};
use slowburn::tokenizer::TextOptions;

use super::chat::{check_no_special, message};
use super::refusals::{BodyRefusals, Refusals};
use crate::blocking::blocking;
use crate::conversation;
use crate::error::ApiError;
use crate::json::{ApiJson, parse, read_object};
use crate::request::find_model;
use crate::service::Service;
use crate::state::App;
use crate::unsupported::{self, Field, OF_GENERATION, OF_TEMPLATES, check_fields};
use crate::wire::{
    DescribedTokenize, DetokenizeRequest, Detokenized, Piece, TemplateOptions, TokenList,
    TokenPiece, TokenizeRequest, Tokenized,
};

/// What other servers can do with a text.
const UNSUPPORTED: &[Field] = &[("mm_processor_kwargs", &["{}"])];

/// A request, with what only a conversation needs.
pub(super) struct TokenizeBody {
    request: TokenizeRequest,
    template: TemplateOptions,
}

impl FromRequest<App> for TokenizeBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let of_any = [&OF_GENERATION[..], &["add_special_tokens"]].concat();
        let of_chat = [&of_any[..], &OF_TEMPLATES].concat();
        let body = read_object(request, app, &of_chat).await?;
        if body.get("messages").is_none_or(Value::is_null) {
            unsupported::check(&body, &of_any)?;
        }
        Ok(Self { request: parse(&body)?, template: parse(&body)? })
    }
}

/// The token ids of a text or of a conversation.
#[utoipa::path(post, path = "/tokenize", request_body = DescribedTokenize, responses(
    (status = 200, body = Tokenized),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn tokenize(
    State(app): State<App>,
    TokenizeBody { request, template }: TokenizeBody,
) -> Result<Json<Tokenized>, ApiError> {
    let service = app.service()?.clone();
    find_model(&app, request.model.as_deref())?;
    check_fields(UNSUPPORTED, &request.other, "")?;
    // One at a time: many long texts at once would take all cores from the model.
    let turn = service.tokenizing_turn.clone().acquire_owned().await.map_err(ApiError::internal)?;
    let tokens = blocking(move || {
        // Whoever asked may go meanwhile: then this goes on, and is still the only one.
        let _turn = turn;
        tokens(&service, request, template)
    });
    tokens.await?.map(Json)
}

fn tokens(
    service: &Service,
    request: TokenizeRequest,
    template: TemplateOptions,
) -> Result<Tokenized, ApiError> {
    let tokenizer = &service.pretrained.tokenizer;
    let parse_special = request.parse_special;
    let encode = |field: &str, text: &str, add_special_tokens: bool| {
        let parse_special = parse_special.unwrap_or(true);
        let options = TextOptions { add_special_tokens, parse_special };
        let ids = service.pretrained.text_ids(text, options);
        ids.map_err(|error| ApiError::from(error).with_param(field))
    };
    let as_texts = request.text.is_some();
    let as_pieces = request.content.is_some() && request.with_pieces.unwrap_or(false);
    let with_special = request.add_special_tokens.unwrap_or(true);
    let TokenizeRequest { text, prompt, messages, content, .. } = request;
    let ids = match (text, prompt, messages, content) {
        (Some(text), None, None, None) => encode("text", &text, with_special)?,
        (None, Some(text), None, None) => encode("prompt", &text, with_special)?,
        (None, None, Some(messages), None) => {
            check_no_special(request.add_special_tokens)?;
            let parse_special = parse_special.unwrap_or(false);
            let options = conversation::options(service, template, &messages, parse_special)?;
            let messages: Vec<_> = messages.into_iter().map(message).collect();
            let ids = service.chat_ids(&messages, &[], options);
            ids.map_err(|error| error.with_param("messages"))?
        }
        (None, None, None, Some(content)) => {
            encode("content", &content, request.add_special.unwrap_or(false))?
        }
        _ => {
            let message =
                "one of `text`, `prompt`, `messages` and `content` is needed, and only one";
            return Err(ApiError::bad_request("invalid_value", message));
        }
    };
    let tokens = if as_texts {
        TokenList::Texts(ids.iter().map(|&id| service.token_text(id)).collect())
    } else if as_pieces {
        TokenList::Pieces(ids.iter().map(|&id| piece(service, id)).collect())
    } else {
        TokenList::Ids(ids.clone())
    };
    let names = || ids.iter().map(|&id| tokenizer.token(id).unwrap_or_default()).collect();
    Ok(Tokenized {
        token_strs: request.return_token_strs.unwrap_or(false).then(names),
        count: ids.len(),
        max_model_len: service.context_length(),
        tokens,
        ids,
    })
}

fn piece(service: &Service, id: u32) -> TokenPiece {
    let tokenizer = &service.pretrained.tokenizer;
    let piece = match tokenizer.token_bytes(id).map(String::from_utf8) {
        Some(Ok(text)) => Piece::Text(text),
        Some(Err(error)) => Piece::Bytes(error.into_bytes()),
        None => Piece::Text(tokenizer.token(id).unwrap_or_default()),
    };
    TokenPiece { id, piece }
}

/// The text of token ids.
#[utoipa::path(post, path = "/detokenize", request_body = DetokenizeRequest, responses(
    (status = 200, body = Detokenized),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn detokenize(
    State(app): State<App>,
    ApiJson(request): ApiJson<DetokenizeRequest>,
) -> Result<Json<Detokenized>, ApiError> {
    let service = app.service()?.clone();
    find_model(&app, request.model.as_deref())?;
    let (name, ids) = match (request.ids, request.tokens) {
        (Some(ids), None) => ("ids", ids),
        (None, Some(tokens)) => ("tokens", tokens),
        _ => {
            let message = "one of `ids` and `tokens` is needed, and only one";
            return Err(ApiError::bad_request("invalid_value", message));
        }
    };
    let vocab_size = service.pretrained.model.config().vocab_size;
    if let Some(&id) = ids.iter().find(|&&id| id as usize >= vocab_size) {
        let error =
            ApiError::from(Error::Request(RequestError::TokenOutOfRange { id, vocab_size }));
        return Err(error.with_param(name));
    }
    let text = blocking(move || service.pretrained.tokenizer.decode(&ids)).await??;
    Ok(Json(Detokenized { prompt: text.clone(), content: text.clone(), text }))
}
