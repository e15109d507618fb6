//! The JSON body of a request, with errors in the form of OpenAI's API.

use std::error::Error as _;
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use garde::Validate;
use serde::de::DeserializeOwned;
use serde_json::Value;
use slowburn::outside::json_in_words;
use tower_http::timeout::TimeoutError;

use super::deadline;
use super::error::ApiError;
use super::formats;
use super::json_words::wrong_field;
use super::large_integers;
use super::request_body::ShutDown;
use super::state::App;
use super::unsupported;
use super::wire::{CompletionRequest, FormatOptions, ResponseRequest, SamplingOptions};

/// A JSON body that was parsed and validated.
pub(super) struct ApiJson<T>(pub(super) T);

/// As [`ApiJson`], with the sampling options of the same body.
pub(super) struct SampledJson<T>(pub(super) T, pub(super) SamplingOptions);

/// As [`SampledJson`], with what the answer must look like.
pub(super) struct FormattedJson<T>(
    pub(super) T,
    pub(super) SamplingOptions,
    pub(super) FormatOptions,
);

/// A request for texts.
pub(super) trait Generating {
    /// The fields that would be refused elsewhere, besides those of [`FormatOptions`].
    const HEEDED: &'static [&'static str];
}

impl Generating for CompletionRequest {
    const HEEDED: &'static [&'static str] =
        &["max_tokens", "n", "best_of", "echo", "add_special_tokens"];
}

impl Generating for ResponseRequest {
    const HEEDED: &'static [&'static str] = &[
        "tools",
        "tool_choice",
        "max_output_tokens",
        "instructions",
        "reasoning",
        "chat_template_kwargs",
        "enable_thinking",
        "max_reasoning_tokens",
        "thinking_token_budget",
    ];
}

impl<T> FromRequest<App> for ApiJson<T>
where
    T: DeserializeOwned + Validate<Context = ()>,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        parse(&read_object(request, app, &unsupported::OF_GENERATION).await?).map(ApiJson)
    }
}

impl<T> FromRequest<App> for SampledJson<T>
where
    T: DeserializeOwned + Validate<Context = ()> + Generating,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let body = read_object(request, app, T::HEEDED).await?;
        Ok(SampledJson(parse(&body)?, parse(&body)?))
    }
}

impl<T> FromRequest<App> for FormattedJson<T>
where
    T: DeserializeOwned + Validate<Context = ()> + Generating,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let body = read_object(request, app, &[T::HEEDED, formats::FIELDS].concat()).await?;
        Ok(FormattedJson(parse(&body)?, parse(&body)?, parse(&body)?))
    }
}

/// The body of a request as JSON: an object, for [`parse`]. The route reads the fields `heeded`, which
/// others do not support.
///
/// # Errors
/// A body that cannot be read, or is something else; a field that is not supported.
pub(super) async fn read_object(
    request: Request,
    app: &App,
    heeded: &[&str],
) -> Result<Value, ApiError> {
    object(&read(request, app).await?, heeded)
}

async fn read(request: Request, app: &App) -> Result<Bytes, ApiError> {
    // A page of another site may send a form or plain text here without asking, but not JSON.
    if !is_json(request.headers()) {
        return Err(ApiError::not_json());
    }
    if let Some(encoding) = encoding(request.headers()) {
        return Err(ApiError::encoded(&encoding));
    }
    let (limit, patience) = (app.settings().body_limit(), app.settings().read_timeout.0);
    // It says so itself.
    if request.body().size_hint().lower() > limit as u64 {
        return Err(ApiError::too_large(limit));
    }
    let body = Bytes::from_request(request, app).await;
    deadline::begin();
    body.map_err(|error| unreadable(&error, limit, patience))
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}

/// How the body is encoded, if it is.
fn encoding(headers: &HeaderMap) -> Option<String> {
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let encodings = values.flat_map(|value| value.as_bytes().split(|&byte| byte == b','));
    let mut encodings = encodings.map(<[u8]>::trim_ascii);
    let other = encodings.find(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"));
    other.map(|name| String::from_utf8_lossy(name).into_owned())
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
        if cause.is::<ShutDown>() {
            return ApiError::shutting_down();
        }
        source = cause.source();
    }
    ApiError::bad_request("invalid_body", format!("the body cannot be read: {error}"))
}

/// The body as JSON: an object that asks for nothing that is not supported.
fn object(body: &[u8], heeded: &[&str]) -> Result<Value, ApiError> {
    let wrong = |problem: String| ApiError::bad_request("invalid_json", problem);
    let mut value: Value = serde_json::from_slice(body)
        .map_err(|error| wrong(format!("the body is not JSON: {}", json_in_words(error))))?;
    if !value.is_object() {
        return Err(wrong("the body must be a JSON object".to_owned()));
    }
    large_integers::check(body, &value)?;
    make_whole(&mut value);
    unsupported::check(&value, heeded)?;
    Ok(value)
}

/// Fields whose value a template writes, or a schema compares: a number in them stays as it is written.
pub(super) const VERBATIM: [&str; 11] = [
    "tools",
    "tool_calls",
    "messages",
    "input",
    "chat_template_kwargs",
    "documents",
    "response_format",
    "text",
    "structured_outputs",
    "guided_json",
    "json_schema",
];

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
        Value::Object(fields) => {
            let fields = fields.iter_mut().filter(|(name, _)| !VERBATIM.contains(&name.as_str()));
            fields.for_each(|(_, value)| make_whole(value));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// A value of type `T` from JSON that was read.
///
/// # Errors
/// A field that is missing or wrong, by its name.
pub(super) fn parse<T: DeserializeOwned + Validate<Context = ()>>(
    object: &Value,
) -> Result<T, ApiError> {
    let parsed: T = serde_path_to_error::deserialize(object).map_err(|error| {
        wrong_field(object, &error.path().to_string(), &error.inner().to_string())
    })?;
    // Of the fields that are out of their ranges, the first is reported.
    let report = parsed.validate().err();
    match report.iter().flat_map(garde::Report::iter).next() {
        None => Ok(parsed),
        Some((path, error)) => Err(wrong_field(object, &path.to_string(), error.message())),
    }
}

/// As [`parse`], of a part of the body that is called `place`.
///
/// # Errors
/// As [`parse`].
pub(super) fn parse_at<T>(place: &str, part: &Value) -> Result<T, ApiError>
where
    T: DeserializeOwned + Validate<Context = ()>,
{
    parse(part).map_err(|error: ApiError| error.within(place))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_whole_but_where_a_template_or_a_schema_has_them() {
        let tool = json!({"function": {"name": "w", "parameters": {"properties": {"a": {"default": 1.0}}}}});
        let mut body = json!({
            "max_tokens": 4.0, "temperature": 0.5, "logit_bias": {"5": 1.0},
            "tools": [tool], "messages": [{"role": "user", "content": 1.0}],
            "response_format": {"json_schema": {"schema": {"const": 2.0}}},
        });
        make_whole(&mut body);
        for (place, expected) in [
            ("/max_tokens", "4"),
            ("/temperature", "0.5"),
            ("/logit_bias/5", "1"),
            ("/tools/0/function/parameters/properties/a/default", "1.0"),
            ("/messages/0/content", "1.0"),
            ("/response_format/json_schema/schema/const", "2.0"),
        ] {
            assert_eq!(body.pointer(place).unwrap().to_string(), expected, "{place}");
        }
    }

    #[test]
    fn a_number_that_would_become_another_is_refused() {
        let body = br#"{"messages": [{"content": 18446744073709551616}]}"#;
        let error = object(body, &[]).unwrap_err().body().error;
        assert_eq!(error.param.as_deref(), Some("messages[0].content"), "{}", error.message);
    }
}
