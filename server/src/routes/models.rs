//! The models of the server: it has one.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};

use super::refusals::Refusals;
use crate::error::{ApiError, ErrorBody};
use crate::request::check_model;
use crate::state::App;
use crate::wire::{ModelList, ModelObject};

/// All models.
#[utoipa::path(get, path = "/v1/models", operation_id = "list_models", responses((status = 200, body = ModelList), Refusals))]
pub(super) async fn list(State(app): State<App>) -> Result<Json<ModelList>, ApiError> {
    Ok(Json(ModelList { object: "list", data: vec![model(&app)?] }))
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
    check_model(&app, Some(&name))?;
    model(&app).map(Json)
}

/// One model, whose name has slashes, as names on the hub have one.
pub(super) async fn one_with_slashes(
    app: State<App>,
    name: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<ModelObject>, ApiError> {
    one(app, name.map(|Path((first, rest))| Path(format!("{first}/{rest}")))).await
}

fn model(app: &App) -> Result<ModelObject, ApiError> {
    Ok(ModelObject {
        id: app.name().to_owned(),
        object: "model",
        created: app.started(),
        owned_by: "slowburn",
        max_model_len: app.service()?.context_length(),
    })
}
