//! The JSON body of a request, with errors in the form of OpenAI's API.

use std::error::Error as _;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use garde::Validate;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_http::timeout::TimeoutError;

use super::error::ApiError;
use super::state::App;
use super::wire::SamplingOptions;

/// A JSON body that was parsed and validated.
pub(super) struct ApiJson<T>(pub(super) T);

/// As [`ApiJson`], with the sampling options of the same body.
pub(super) struct SampledJson<T>(pub(super) T, pub(super) SamplingOptions);

impl<T> FromRequest<App> for ApiJson<T>
where
    T: DeserializeOwned + Validate<Context = ()>,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        parse(&object(&read(request, app).await?)?).map(ApiJson)
    }
}

impl<T> FromRequest<App> for SampledJson<T>
where
    T: DeserializeOwned + Validate<Context = ()>,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let body = object(&read(request, app).await?)?;
        Ok(SampledJson(parse(&body)?, parse(&body)?))
    }
}

async fn read(request: Request, app: &App) -> Result<Bytes, ApiError> {
    // A page of another site may send a form or plain text here without asking, but not JSON.
    if !is_json(request.headers()) {
        return Err(ApiError::not_json());
    }
    let (limit, patience) = (app.settings().body_limit(), app.settings().read_timeout());
    let body = Bytes::from_request(request, app).await;
    body.map_err(|error| unreadable(&error, limit, patience))
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}

/// A body that is too large, too slow, or breaks off.
fn unreadable(error: &BytesRejection, limit: usize, patience: Duration) -> ApiError {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::too_large(limit);
    }
    let mut source = error.source();
    while let Some(cause) = source {
        if cause.is::<TimeoutError>() {
            return ApiError::slow_request(patience);
        }
        source = cause.source();
    }
    ApiError::bad_request("invalid_body", format!("the body cannot be read: {error}"))
}

/// The body as JSON: an object.
fn object(body: &[u8]) -> Result<Value, ApiError> {
    let wrong = |problem: String| ApiError::bad_request("invalid_json", problem);
    let mut value: Value = serde_json::from_slice(body)
        .map_err(|error| wrong(format!("the body is not the JSON expected: {error}")))?;
    if !value.is_object() {
        return Err(wrong("the body must be a JSON object".to_owned()));
    }
    make_whole(&mut value);
    Ok(value)
}

/// Writes 7.0 as 7: in JSON both are the same number, and an integer is meant by both.
fn make_whole(value: &mut Value) {
    /// All integers up to here are numbers of 64 bits.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => {
            if let Some(float) = number.as_f64().filter(|_| number.is_f64())
                && float.fract() == 0.0
                && float.abs() <= EXACT
            {
                *value = Value::from(float as i64);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(make_whole),
        Value::Object(fields) => fields.values_mut().for_each(make_whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn parse<T: DeserializeOwned + Validate<Context = ()>>(object: &Value) -> Result<T, ApiError> {
    let parsed = serde_path_to_error::deserialize(object).map_err(|error| {
        let (path, message) = (error.path().to_string(), error.inner().to_string());
        if path == "." {
            // A field that is missing: the message names it.
            return ApiError::bad_request("invalid_value", message);
        }
        ApiError::invalid(path.clone(), format!("{path}: {message}"))
    })?;
    check(&parsed)?;
    Ok(parsed)
}

/// Validates the ranges of all fields. The first that is wrong is reported.
fn check<T: Validate<Context = ()>>(parsed: &T) -> Result<(), ApiError> {
    let Err(report) = parsed.validate() else {
        return Ok(());
    };
    let first = report.iter().next();
    Err(first.map_or_else(
        || ApiError::bad_request("invalid_value", "a field is out of its range"),
        |(path, error)| ApiError::invalid(path.to_string(), format!("{path}: {error}")),
    ))
}
