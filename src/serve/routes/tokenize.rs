//! Text to token ids, and back.

use axum::Json;
use axum::extract::State;

use super::refusals::{BodyRefusals, Refusals};
use crate::error::Error;
use crate::serve::blocking::blocking;
use crate::serve::error::ApiError;
use crate::serve::json::ApiJson;
use crate::serve::state::App;
use crate::serve::wire::{DetokenizeRequest, Detokenized, TokenizeRequest, Tokenized};

/// The token ids of a text.
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
    let encode = move || {
        let ids = service.pretrained.tokenizer.encode(&request.text)?;
        let tokens = ids.iter().map(|&id| service.token_text(id)).collect();
        let (count, max_model_len) = (ids.len(), service.context_length());
        Ok(Json(Tokenized { ids, tokens, count, max_model_len }))
    };
    blocking(encode).await?
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
    let vocab_size = service.pretrained.model.config().vocab_size;
    if let Some(&id) = request.ids.iter().find(|&&id| id as usize >= vocab_size) {
        let error = ApiError::from(Error::TokenOutOfRange { id, vocab_size });
        return Err(error.with_param("ids"));
    }
    let decode = move || {
        let text = service.pretrained.tokenizer.decode(&request.ids)?;
        Ok(Json(Detokenized { text }))
    };
    blocking(decode).await?
}
