//! What routers and other clients ask a server about itself and its model.

use axum::Json;
use axum::extract::State;
use slowburn::inference::GenerateRequest;
use slowburn::kernels::BLOCK;
use slowburn::model::config::Family;
use slowburn::sampling::SamplingParams;

use super::refusals::Refusals;
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::reply;
use crate::state::App;
use crate::updates::Updates;
use crate::wire::{
    DefaultParams, DefaultSettings, Modalities, ModelInfo, Props, ServerInfo, Version, WorkerLoad,
};

/// The version of this server, as vLLM answers it.
#[utoipa::path(get, path = "/version", responses((status = 200, body = Version), Refusals))]
pub(super) async fn version() -> Json<Version> {
    Json(Version { version: env!("CARGO_PKG_VERSION") })
}

/// The server, as SGLang answers it.
#[utoipa::path(get, path = "/server_info", responses((status = 200, body = ServerInfo), Refusals))]
pub(super) async fn server_info(State(app): State<App>) -> Result<Json<ServerInfo>, ApiError> {
    let (service, settings) = (app.service()?, app.settings());
    Ok(Json(ServerInfo {
        model_path: app.name().to_owned(),
        served_model_name: app.name().to_owned(),
        version: env!("CARGO_PKG_VERSION"),
        context_length: service.context_length(),
        max_total_num_tokens: service.max_cached_tokens(),
        max_running_requests: settings.max_running,
        max_queued_requests: settings.max_waiting,
        max_prefill_tokens: settings.token_budget,
        dp_size: 1,
        status: "ready",
    }))
}

/// The server, under the older name.
#[utoipa::path(get, path = "/get_server_info", responses((status = 200, body = ServerInfo), Refusals))]
pub(super) async fn get_server_info(app: State<App>) -> Result<Json<ServerInfo>, ApiError> {
    server_info(app).await
}

/// The model, as SGLang answers it.
#[utoipa::path(get, path = "/model_info", responses((status = 200, body = ModelInfo), Refusals))]
pub(super) async fn model_info(State(app): State<App>) -> Result<Json<ModelInfo>, ApiError> {
    let service = app.service()?;
    let config = service.pretrained.model.config();
    Ok(Json(ModelInfo {
        model_path: app.name().to_owned(),
        tokenizer_path: app.name().to_owned(),
        is_generation: true,
        model_type: match config.family {
            Family::Llama(_) => "llama",
            Family::Gpt2 => "gpt2",
        },
        vocab_size: config.vocab_size,
        context_length: config.context_length,
    }))
}

/// The model, under the older name.
#[utoipa::path(get, path = "/get_model_info", responses((status = 200, body = ModelInfo), Refusals))]
pub(super) async fn get_model_info(app: State<App>) -> Result<Json<ModelInfo>, ApiError> {
    model_info(app).await
}

/// How busy the model is, as SGLang answers it: a router sends a request where there is least to do.
#[utoipa::path(get, path = "/get_load", responses((status = 200, body = Vec<WorkerLoad>), Refusals))]
pub(super) async fn get_load(State(app): State<App>) -> Result<Json<Vec<WorkerLoad>>, ApiError> {
    let service = app.service()?.clone();
    let block_bytes = service.pretrained.model.kv_pool().block_bytes();
    // The engine answers between two steps.
    let load = blocking(move || service.inference.load()).await??;
    Ok(Json(vec![WorkerLoad {
        dp_rank: 0,
        num_reqs: load.running + load.paused + load.waiting,
        num_waiting_reqs: load.waiting,
        num_tokens: load.kv_cache_bytes / block_bytes * BLOCK,
    }]))
}

/// The server, as llama.cpp answers it.
#[utoipa::path(get, path = "/props", responses((status = 200, body = Props), Refusals))]
pub(super) async fn props(State(app): State<App>) -> Result<Json<Props>, ApiError> {
    let service = app.service()?;
    let model = &service.pretrained.model;
    let tokenizer = &service.pretrained.tokenizer;
    let template = tokenizer.chat_template().map(|template| template.source().to_owned());
    let token = |id: Option<u32>| id.map(|id| service.token_text(id)).unwrap_or_default();
    let default = SamplingParams::default();
    Ok(Json(Props {
        default_generation_settings: DefaultSettings {
            n_ctx: service.context_length(),
            params: DefaultParams {
                n_predict: -1,
                seed: -1,
                temperature: default.temperature,
                top_k: default.top_k.unwrap_or(0),
                top_p: default.top_p.unwrap_or(1.0),
                min_p: default.min_p.unwrap_or(0.0),
                typical_p: default.typical_p.unwrap_or(1.0),
                repeat_penalty: default.repetition_penalty,
                presence_penalty: default.presence_penalty,
                frequency_penalty: default.frequency_penalty,
                ignore_eos: false,
                stream: false,
            },
        },
        total_slots: app.settings().max_running,
        model_path: app.name().to_owned(),
        model_alias: app.name().to_owned(),
        chat_template: template.unwrap_or_default(),
        bos_token: token(model.config().bos_token_id.or(tokenizer.bos_id())),
        eos_token: token(model.config().eos_token_ids.first().copied()),
        modalities: Modalities { vision: false, audio: false },
        build_info: concat!("slowburn-", env!("CARGO_PKG_VERSION")).to_owned(),
        is_sleeping: false,
    }))
}

/// Generates one token: the model answers, and not the server alone.
#[utoipa::path(get, path = "/health_generate", responses((status = 200, body = ModelInfo), Refusals))]
pub(super) async fn health_generate(app: State<App>) -> Result<Json<ModelInfo>, ApiError> {
    let service = app.service()?.clone();
    let config = service.pretrained.model.config();
    let prompt = vec![config.bos_token_id.unwrap_or(0)];
    let request = GenerateRequest::new(prompt).with_max_tokens(1).with_ignore_eos(true);
    let updates = Updates::start(&app, &service, vec![request], None).await?;
    reply::collect(updates, 1).await?;
    model_info(app).await
}
