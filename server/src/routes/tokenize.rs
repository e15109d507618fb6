//! Text to token ids, and back.

use axum::Json;
use axum::extract::State;
use slowburn::error::{Error, RequestError};

use super::chat::message;
use super::refusals::{BodyRefusals, Refusals};
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::json::ApiJson;
use crate::request::check_model;
use crate::service::Service;
use crate::state::App;
use crate::unsupported::{Field, check_fields};
use crate::wire::{
    DetokenizeRequest, Detokenized, Piece, TokenList, TokenPiece, TokenizeRequest, Tokenized,
};

/// What other servers can do with a text.
const UNSUPPORTED: &[Field] = &[("mm_processor_kwargs", &["{}"])];

/// What other servers can do with token ids.
const UNSUPPORTED_BACK: &[Field] = &[("skip_special_tokens", &["true"])];

/// The token ids of a text or of a conversation.
#[utoipa::path(post, path = "/tokenize", request_body = TokenizeRequest, responses(
    (status = 200, body = Tokenized),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn tokenize(
    State(app): State<App>,
    ApiJson(request): ApiJson<TokenizeRequest>,
) -> Result<Json<Tokenized>, ApiError> {
    let service = app.service()?.clone();
    check_model(&app, request.model.as_deref())?;
    check_fields(UNSUPPORTED, &request.other, "")?;
    blocking(move || tokens(&service, request)).await?.map(Json)
}

fn tokens(service: &Service, request: TokenizeRequest) -> Result<Tokenized, ApiError> {
    let tokenizer = &service.pretrained.tokenizer;
    let parse_special = request.parse_special;
    let encode = |text: &str, with_special: bool| {
        let ids = match (parse_special.unwrap_or(true), with_special) {
            (true, true) => tokenizer.encode(text),
            (true, false) => tokenizer.encode_bare(text),
            (false, true) => tokenizer.encode_text(text),
            (false, false) => tokenizer.encode_bare_text(text),
        };
        ids.map_err(ApiError::from)
    };
    let as_texts = request.text.is_some();
    let as_pieces = request.content.is_some() && request.with_pieces.unwrap_or(false);
    let with_special = request.add_special_tokens.unwrap_or(true);
    let TokenizeRequest { text, prompt, messages, content, .. } = request;
    let ids = match (text, prompt, messages, content) {
        (Some(text), None, None, None) | (None, Some(text), None, None) => {
            encode(&text, with_special)?
        }
        (None, None, Some(messages), None) => {
            let messages: Vec<_> = messages.into_iter().map(message).collect();
            service.chat_ids(&messages, &[], parse_special.unwrap_or(false))?
        }
        (None, None, None, Some(content)) => {
            encode(&content, request.add_special.unwrap_or(false))?
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
    check_model(&app, request.model.as_deref())?;
    check_fields(UNSUPPORTED_BACK, &request.other, "")?;
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
