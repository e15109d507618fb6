//! `/v1/embeddings`: texts as vectors.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use slowburn::generate::{Embedder, Pooling};
use slowburn::inference::GenerateRequest;
use tracing::Span;

use super::refusals::{BodyRefusals, Refusals};
use crate::blocking::blocking;
use crate::deadline;
use crate::error::ApiError;
use crate::json::ApiJson;
use crate::request::check_model;
use crate::service::Service;
use crate::state::App;
use crate::wire::{
    Embedding, EmbeddingInput, Embeddings, EmbeddingsRequest, EmbeddingsUsage, EncodingFormat,
    MAX_INPUTS, WireVector,
};

/// Tokens that are read between two steps of the batch.
const CHUNK: usize = 256;

/// Makes a vector of length 1 of each text: the hidden states of its tokens after the last norm,
/// pooled. A model that was trained to predict the next token was not trained to tell texts apart: one
/// that was trained for embeddings finds similar texts better.
#[utoipa::path(post, path = "/v1/embeddings", request_body = EmbeddingsRequest, responses(
    (status = 200, body = Embeddings),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn embed(
    State(app): State<App>,
    ApiJson(request): ApiJson<EmbeddingsRequest>,
) -> Result<Json<Embeddings>, ApiError> {
    let service = app.service()?.clone();
    check_model(&app, request.model.as_deref())?;
    let d_model = service.pretrained.model.config().d_model;
    if let Some(asked) = request.dimensions.filter(|&asked| asked != d_model) {
        let message = format!(
            "dimensions is {asked}, but the vectors of this model have {d_model} numbers: it was not trained to be shortened"
        );
        return Err(ApiError::invalid("dimensions", message));
    }
    let of_texts = service.clone();
    let texts = blocking(move || token_ids(&of_texts, request.input)).await??;
    if app.settings().log_prompts {
        texts.iter().for_each(|ids| service.log_prompt(&GenerateRequest::new(ids.clone())));
    }
    let tokens = texts.iter().map(Vec::len).sum();
    Span::current().record("prompt_tokens", tokens);
    let limit = app.settings().request_timeout.0;
    let asked = request.pooling.map(Pooling::from);
    let pooling = asked.or(service.pretrained.pooling).unwrap_or(Pooling::Mean);
    let vectors =
        tokio::time::timeout(deadline::left(limit), vectors(&app, &service, texts, pooling));
    let vectors = vectors.await.map_err(|_| too_slow(limit))??;
    let format = request.encoding_format.unwrap_or_default();
    let embedding = |(index, vector)| Embedding {
        object: "embedding",
        index,
        embedding: encoded(vector, format),
    };
    Ok(Json(Embeddings {
        object: "list",
        data: vectors.into_iter().enumerate().map(embedding).collect(),
        model: app.name().to_owned(),
        usage: EmbeddingsUsage { prompt_tokens: tokens, total_tokens: tokens },
    }))
}

fn token_ids(service: &Service, input: EmbeddingInput) -> Result<Vec<Vec<u32>>, ApiError> {
    let of_text = |text: String| -> slowburn::error::Result<Vec<u32>> {
        let ids = service.pretrained.prompt_ids(&text)?;
        // Before the next one is read: to find the tokens of a long text takes time.
        service.pretrained.model.check_prompt(&ids)?;
        Ok(ids)
    };
    let texts = match input {
        EmbeddingInput::Text(text) => of_text(text).map(|ids| vec![ids]),
        EmbeddingInput::Texts(texts) => texts.into_iter().map(of_text).collect(),
        EmbeddingInput::Ids(ids) => Ok(vec![ids]),
        EmbeddingInput::ManyIds(many) => Ok(many),
    };
    let texts = texts.map_err(wrong_input)?;
    if texts.is_empty() || texts.len() > MAX_INPUTS {
        let message = format!("input has {} texts: give 1 to {MAX_INPUTS}", texts.len());
        return Err(ApiError::invalid("input", message));
    }
    for ids in &texts {
        service.pretrained.model.check_prompt(ids).map_err(wrong_input)?;
    }
    Ok(texts)
}

fn wrong_input(error: slowburn::error::Error) -> ApiError {
    ApiError::from(error).with_param("input")
}

async fn vectors(
    app: &App,
    service: &Arc<Service>,
    texts: Vec<Vec<u32>>,
    pooling: Pooling,
) -> Result<Vec<Vec<f32>>, ApiError> {
    let mut vectors = Vec::with_capacity(texts.len());
    for ids in texts {
        // One text at a time holds keys and values, and the requests take turns.
        let _turn = service.embedding_turn.acquire().await.map_err(ApiError::internal)?;
        vectors.push(vector(app, service, ids, pooling).await?);
    }
    Ok(vectors)
}

/// Reads a text in pieces, so that the batch takes a step between two of them, and nothing goes on
/// for a client that has gone.
async fn vector(
    app: &App,
    service: &Arc<Service>,
    ids: Vec<u32>,
    pooling: Pooling,
) -> Result<Vec<f32>, ApiError> {
    let model = &service.pretrained.model;
    let mut unread = ids.len();
    let mut embedder = Embedder::new(model, ids, pooling).map_err(wrong_input)?;
    loop {
        let service = service.clone();
        let read = move || {
            service.inference.submit(move |pretrained| {
                let found = embedder.read(&pretrained.model, CHUNK)?;
                Ok::<_, slowburn::error::Error>((embedder, found))
            })
        };
        let (rest, found) = blocking(read).await???;
        let read = unread.min(CHUNK);
        app.metrics().count_embedded(read);
        unread -= read;
        if let Some(vector) = found {
            return Ok(vector);
        }
        embedder = rest;
    }
}

fn encoded(vector: Vec<f32>, format: EncodingFormat) -> WireVector {
    match format {
        EncodingFormat::Float => WireVector::Float(vector),
        EncodingFormat::Base64 => {
            let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
            WireVector::Base64(STANDARD.encode(bytes))
        }
    }
}

fn too_slow(limit: Duration) -> ApiError {
    let message = format!(
        "the request's {} seconds have passed: send fewer or shorter texts at once, or try again when the server is less busy",
        limit.as_secs_f64()
    );
    ApiError::unavailable("deadline_exceeded", &message, Duration::from_secs(5))
}
