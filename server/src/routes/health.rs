//! Whether the server is up, whether it is ready, and its metrics.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::refusals::{HostRefusals, Refusals};
use crate::blocking::blocking;
use crate::error::ApiError;
use crate::state::App;

/// The state of the server.
#[derive(Serialize, ToSchema)]
pub(super) struct Status {
    status: &'static str,
}

/// The process is up.
#[utoipa::path(get, path = "/health", responses((status = 200, body = Status), HostRefusals))]
pub(super) async fn health() -> Json<Status> {
    Json(Status { status: "ok" })
}

/// The model is loaded, and new requests are accepted.
#[utoipa::path(get, path = "/ready", responses((status = 200, body = Status), Refusals))]
pub(super) async fn ready(State(app): State<App>) -> Result<Json<Status>, ApiError> {
    app.service()?;
    Ok(Json(Status { status: "ready" }))
}

/// The type of the metrics.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The metrics, in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", responses(
    (status = 200, body = String, content_type = "application/openmetrics-text"),
    Refusals,
))]
pub(super) async fn metrics(State(app): State<App>) -> Result<Response, ApiError> {
    let service = app.loaded().cloned();
    // The engine answers between two steps.
    let load = move || service.and_then(|service| service.inference.load().ok());
    let load = blocking(load).await?;
    let text = app.metrics().text(load.as_ref()).map_err(ApiError::internal)?;
    Ok(([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response())
}
