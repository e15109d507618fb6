//! Loads and unloads adapters, as vLLM does.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use slowburn::LoadError;
use slowburn::error::Error;

use super::refusals::{BodyRefusals, Refusals};
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::json::ApiJson;
use crate::service::Service;
use crate::state::App;
use crate::wire::{LoadAdapterRequest, UnloadAdapterRequest};

/// Loads an adapter (LoRA) from a folder of the server's machine. From then on, requests can name it as their model.
///
/// The server must have been started with `--allow-lora-updates`.
#[utoipa::path(post, path = "/v1/load_lora_adapter", operation_id = "load_lora_adapter", request_body = LoadAdapterRequest, responses(
    (status = 200, body = String, content_type = "text/plain"),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn load(
    State(app): State<App>,
    ApiJson(request): ApiJson<LoadAdapterRequest>,
) -> Result<String, ApiError> {
    let service = service(&app)?;
    let LoadAdapterRequest { lora_name: name, lora_path: path, load_inplace } = request;
    let is_there = app.name() == name || service.pretrained.adapters.get(&name).is_ok();
    let replaces = load_inplace.unwrap_or(false) && app.name() != name;
    if is_there && !replaces {
        let message = format!(
            "there is a model {} already: unload it first, take another name, or set load_inplace",
            slowburn::outside::quoted(&name)
        );
        return Err(ApiError::invalid("lora_name", message));
    }
    let pretrained = service.pretrained.clone();
    let read = move || pretrained.read_adapter(&PathBuf::from(path));
    let adapter = blocking(read).await?.map_err(|error| match error {
        Error::Load(error @ LoadError::WeightsTooLarge { .. }) => ApiError::internal(error),
        Error::Load(error) => ApiError::invalid("lora_path", error.to_string()),
        error => ApiError::from(error),
    })?;
    let message = format!("Success: LoRA adapter '{name}' added successfully.");
    service.pretrained.adapters.insert(name, adapter);
    Ok(message)
}

/// Unloads an adapter. Texts in progress keep it to their end.
///
/// The server must have been started with `--allow-lora-updates`.
#[utoipa::path(post, path = "/v1/unload_lora_adapter", operation_id = "unload_lora_adapter", request_body = UnloadAdapterRequest, responses(
    (status = 200, body = String, content_type = "text/plain"),
    Refusals,
    BodyRefusals,
))]
pub(super) async fn unload(
    State(app): State<App>,
    ApiJson(request): ApiJson<UnloadAdapterRequest>,
) -> Result<String, ApiError> {
    let service = service(&app)?;
    let UnloadAdapterRequest { lora_name: name } = request;
    match service.pretrained.adapters.remove(&name) {
        Some(_) => Ok(format!("Success: LoRA adapter '{name}' removed successfully.")),
        None => Err(ApiError::no_model(&name, &app.model_names()).with_param("lora_name")),
    }
}

/// The model, on a server whose adapters clients may change.
fn service(app: &App) -> Result<Arc<Service>, ApiError> {
    if !app.settings().allow_lora_updates {
        return Err(ApiError::no_adapter_updates());
    }
    Ok(app.service()?.clone())
}
