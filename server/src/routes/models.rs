//! The models of the server: one, and its adapters.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};

use super::refusals::Refusals;
use crate::error::{ApiError, ErrorBody};
use crate::request::{Asked, find_model};
use crate::state::App;
use crate::wire::{ModelList, ModelObject};

/// All models.
#[utoipa::path(get, path = "/v1/models", operation_id = "list_models", responses((status = 200, body = ModelList), Refusals))]
pub(super) async fn list(State(app): State<App>) -> Result<Json<ModelList>, ApiError> {
    Ok(Json(ModelList { object: "list", data: models(&app)? }))
}

/// One model.
#[utoipa::path(get, path = "/v1/models/{model}", operation_id = "get_model", params(("model" = String, Path)), responses(
    (status = 200, body = ModelObject),
    (status = 400, body = ErrorBody, description = "The name is not UTF-8."),
    (status = 404, body = ErrorBody),
    Refusals,
))]
pub(super) async fn one(
    State(app): State<App>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<ModelObject>, ApiError> {
    let Path(name) = name.map_err(|_| ApiError::wrong_path())?;
    let Asked { name, .. } = find_model(&app, Some(&name))?;
    let found = models(&app)?.into_iter().find(|model| model.id == name);
    found.map(Json).ok_or_else(|| ApiError::no_model(&name, &app.model_names()))
}

/// One model, whose name has slashes, as names on the hub have one.
pub(super) async fn one_with_slashes(
    app: State<App>,
    name: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<ModelObject>, ApiError> {
    one(app, name.map(|Path((first, rest))| Path(format!("{first}/{rest}")))).await
}

fn models(app: &App) -> Result<Vec<ModelObject>, ApiError> {
    let max_model_len = app.service()?.context_length();
    let model = |id: String| ModelObject {
        parent: (id != app.name()).then(|| app.name().to_owned()),
        id,
        object: "model",
        created: app.started(),
        owned_by: "slowburn",
        max_model_len,
    };
    Ok(app.model_names().into_iter().map(model).collect())
}
