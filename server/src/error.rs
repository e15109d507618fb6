//! Errors on the wire, in the form of OpenAI's API.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use slowburn::error::{DeviceError, Error, RequestError, ServiceError};
use utoipa::ToSchema;

/// The body of every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorBody {
    pub error: ErrorDetail,
}

/// What was wrong, for a person and for a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ErrorDetail {
    /// What was wrong, what was expected, and what to do.
    pub message: String,
    /// The class of the error: `invalid_request_error`, `authentication_error`,
    /// `permission_error`, `not_found_error`, `rate_limit_error`, `overloaded_error` or
    /// `server_error`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The field that is wrong, if it is one: `messages[0].role`.
    pub param: Option<String>,
    /// The error itself, as a word.
    pub code: Option<&'static str>,
}

/// An error that becomes a response.
#[derive(Debug, Clone)]
pub struct ApiError {
    status: StatusCode,
    detail: ErrorDetail,
    retry_after: Option<Duration>,
}

impl ApiError {
    fn new(
        status: StatusCode,
        kind: &'static str,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        let message = message.into();
        let detail = ErrorDetail { message, kind, param: None, code: Some(code) };
        Self { status, detail, retry_after: None }
    }

    /// Whether the request is wrong, and would be so at any time.
    pub(super) fn is_of_request(&self) -> bool {
        self.status == StatusCode::BAD_REQUEST
    }

    /// 400: a field is wrong.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::bad_request("invalid_value", message).with_param(param)
    }

    /// 400: a field that this server does not know how to heed.
    pub(super) fn unsupported(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::bad_request("unsupported_parameter", message).with_param(param)
    }

    /// 400: the request is wrong as a whole.
    pub(super) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", code, message)
    }

    /// 401.
    pub(super) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "authentication_error", "invalid_api_key", message)
    }

    /// 403: the `Host` header names another machine.
    pub(super) fn forbidden_host(host: &str) -> Self {
        let host = slowburn::outside::quoted(host);
        Self::new(
            StatusCode::FORBIDDEN,
            "permission_error",
            "forbidden_host",
            format!(
                "the request is for the host {host}, which is not a name of this machine's own: use localhost, or start the server with an API key"
            ),
        )
    }

    /// 400: HTTP/1.1 needs one `Host` header, and it must be one.
    pub(super) fn wrong_host(problem: &str) -> Self {
        Self::bad_request(
            "invalid_host",
            format!(
                "the request has {problem}: send one that is the name or address of this server"
            ),
        )
    }

    /// 400: the path has bytes that are no text.
    pub(super) fn wrong_path() -> Self {
        Self::bad_request(
            "invalid_path",
            "the path has bytes behind `%` that are not UTF-8: send the name of a model, as /v1/models has it",
        )
    }

    /// 404: no such model.
    pub(super) fn no_model(asked: &str, served: &[String]) -> Self {
        let asked = slowburn::outside::quoted(asked);
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found_error",
            "model_not_found",
            format!("there is no model {asked} here: this server has {}", quoted_names(served)),
        )
        .with_param("model")
    }

    /// 403: the adapters of this server stay as they are.
    pub(super) fn no_adapter_updates() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "permission_error",
            "lora_updates_not_allowed",
            "clients may not load or unload adapters here: start the server with --allow-lora-updates, or with --lora for those that it has",
        )
    }

    /// 404: no such route.
    pub(super) fn no_route(path: &str) -> Self {
        let path = slowburn::outside::quoted(path);
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found_error",
            "not_found",
            format!("there is nothing at {path}: /openapi.json lists what there is"),
        )
    }

    /// 405.
    pub(super) fn wrong_method(method: &str, path: &str) -> Self {
        let path = slowburn::outside::quoted(path);
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "invalid_request_error",
            "method_not_allowed",
            format!("{path} does not take {method}: the header `allow` says what it takes"),
        )
    }

    /// 408: the client was too slow to send its request.
    pub(super) fn slow_request(limit: Duration) -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "invalid_request_error",
            "request_timeout",
            format!(
                "the body was not complete within {} seconds: send it all at once",
                limit.as_secs_f64()
            ),
        )
    }

    /// 413.
    pub(super) fn too_large(limit: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "invalid_request_error",
            "request_too_large",
            format!("the body has more than {limit} bytes, the most that is read here: shorten it"),
        )
    }

    /// 415.
    pub(super) fn not_json() -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "invalid_request_error",
            "unsupported_media_type",
            "the body must be JSON: send the header `content-type: application/json`",
        )
    }

    /// 415: the body is compressed.
    pub(super) fn encoded(encoding: &str) -> Self {
        let encoding = slowburn::outside::quoted(encoding);
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "invalid_request_error",
            "unsupported_content_encoding",
            format!(
                "the body is encoded as {encoding}, which is not read here: send it as it is, without `content-encoding`"
            ),
        )
    }

    /// 429: one client has too many connections.
    pub(super) fn connections_of_client(most: usize) -> Self {
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_error",
            "too_many_connections",
            format!("each of your {most} connections, which are all that one client may have, is in use: use them again, or open fewer"),
        )
        .with_retry_after(Duration::from_secs(1))
    }

    /// 503: there are too many connections.
    pub(super) fn connections(most: usize) -> Self {
        let message =
            format!("each of the {most} connections that there may be is in use: try again later");
        Self::unavailable("too_many_connections", &message, Duration::from_secs(1))
    }

    /// 429: too many requests of one client.
    pub(super) fn rate_limited(wait: Duration) -> Self {
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_error",
            "rate_limit_exceeded",
            format!(
                "too many requests: the next one may come in {:.1} seconds",
                wait.as_secs_f64()
            ),
        )
        .with_retry_after(wait)
    }

    /// 429: the queue is full.
    fn queue_full(waiting: usize, max_waiting: usize) -> Self {
        Self::new(
            StatusCode::TOO_MANY_REQUESTS,
            "overloaded_error",
            "queue_full",
            format!(
                "{waiting} sequences wait for their turn, and the limit is {max_waiting}: try again later"
            ),
        )
    }

    /// 503: the deadline passed before the first token. One that has a grammar may have spent it on that.
    pub(super) fn deadline(limit: Duration, has_grammar: bool) -> Self {
        let advice = if has_grammar {
            "ask for fewer answers at once (`n`) or send a simpler grammar, or try again"
        } else {
            "try again"
        };
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded_error",
            "deadline_exceeded",
            format!(
                "the request's {} seconds have passed before its first token: {advice} when the server is less busy",
                limit.as_secs_f64()
            ),
        )
        .with_retry_after(Duration::from_secs(5))
    }

    /// 503: not yet, or no longer.
    pub(super) fn unavailable(code: &'static str, message: &str, wait: Duration) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded_error", code, message)
            .with_retry_after(wait)
    }

    /// 503: the server is being shut down.
    pub(super) fn shutting_down() -> Self {
        let message = "the server is shutting down: try another one, or this one later";
        Self::unavailable("shutting_down", message, Duration::from_secs(5))
    }

    /// 500. The reason is in the log only: it may tell of files and devices.
    pub(super) fn internal(reason: impl std::fmt::Display) -> Self {
        tracing::error!(%reason, "a request failed");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "server_error",
            "internal_error",
            "the server failed; its log says why, under the id in the header `x-request-id`",
        )
    }

    pub(super) fn with_param(mut self, param: impl Into<String>) -> Self {
        self.detail.param = Some(param.into());
        self
    }

    /// The error of a part of the body that is called `place`: the part knows only its own fields.
    pub(super) fn within(mut self, place: &str) -> Self {
        let param = self.detail.param.take();
        self.detail.param =
            Some(param.map_or_else(|| place.to_owned(), |param| format!("{place}.{param}")));
        self.detail.message = format!("{place}: {}", self.detail.message);
        self
    }

    /// The error of what the request calls `name`.
    pub(super) fn of(mut self, name: &str) -> Self {
        self.detail.message = format!("`{name}`: {}", self.detail.message);
        self
    }

    pub(super) fn with_retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// The body, also for an error in the middle of a stream.
    pub(super) fn body(&self) -> ErrorBody {
        ErrorBody { error: self.detail.clone() }
    }
}

/// The names of models, in quotes.
fn quoted_names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(slowburn::outside::quoted).collect();
    slowburn::outside::short(quoted.join(", "))
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Request(RequestError::Parameter { name, .. }) => {
                ApiError::invalid(name, message)
            }
            Error::Request(RequestError::AdapterUnknown { .. }) => {
                ApiError::bad_request("model_not_found", message).with_param("model")
            }
            Error::Device(DeviceError::AdaptersUnsupported) => {
                ApiError::bad_request("unsupported_device", message)
            }
            Error::Request(RequestError::PromptTooLong { .. })
            | Error::Request(RequestError::TextTooLong { .. }) => {
                ApiError::bad_request("context_length_exceeded", message).with_param("prompt")
            }
            Error::Request(RequestError::EmptyPrompt)
            | Error::Request(RequestError::TokenOutOfRange { .. }) => {
                ApiError::invalid("prompt", message)
            }
            Error::Request(RequestError::NoChatTemplate)
            | Error::Request(RequestError::ChatTemplate { .. }) => {
                ApiError::invalid("messages", message)
            }
            Error::Request(RequestError::KvPoolTooSmall { .. }) => {
                ApiError::invalid("max_tokens", message)
            }
            Error::Request(
                RequestError::Grammar { .. }
                | RequestError::GrammarTooLarge { .. }
                | RequestError::GrammarEmpty
                | RequestError::GrammarUnspellable
                | RequestError::NoTokenFits { .. },
            ) => ApiError::bad_request("invalid_grammar", message),
            // What the sender's penalties and biases made of the scores.
            Error::Request(RequestError::Scores { .. }) => {
                ApiError::bad_request("unusable_scores", message)
            }
            Error::Service(ServiceError::QueueFull { waiting, max_waiting, .. }) => {
                ApiError::queue_full(waiting, max_waiting)
            }
            Error::Service(ServiceError::KvPoolFull { .. })
            | Error::Request(RequestError::CacheTooLarge { .. })
            | Error::Request(RequestError::TextTooLarge { .. }) => {
                ApiError::unavailable("out_of_memory", &message, Duration::from_secs(1))
            }
            Error::Service(ServiceError::ShutDown) => ApiError::shutting_down(),
            error => ApiError::internal(error),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = Json(self.body());
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        if let Some(wait) = self.retry_after {
            // Whole seconds, rounded up: a client that comes back too early is refused again.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::REQUEST_TIMEOUT {
            // OpenAI's client sends a request again after 408; a body that never came would not
            // come the second time either.
            let header = HeaderName::from_static("x-should-retry");
            headers.insert(header, HeaderValue::from_static("false"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::foreign_words::assert_in_words;
    use crate::{ConfigError, ServerError, SettingsError};

    /// The answers that no field of a request is to blame for, and what ends the program at its start. What
    /// is said of fields is in `json_words`, and what the library says is in its own list.
    #[test]
    fn every_message_is_in_words() {
        let second = Duration::from_secs(1);
        let answers = [
            ApiError::forbidden_host("example.com"),
            ApiError::wrong_host("no `Host` header"),
            ApiError::wrong_host("more than one `Host` header"),
            ApiError::wrong_host("a `Host` header that is no host"),
            ApiError::wrong_path(),
            ApiError::no_model("gpt-9", &["ember".to_owned()]),
            ApiError::no_route("/v2"),
            ApiError::wrong_method("GET", "/v1/completions"),
            ApiError::slow_request(second),
            ApiError::too_large(2_000_000),
            ApiError::not_json(),
            ApiError::encoded("gzip"),
            ApiError::connections_of_client(512),
            ApiError::connections(1024),
            ApiError::rate_limited(second),
            ApiError::queue_full(7, 7),
            ApiError::deadline(second, false),
            ApiError::deadline(second, true),
            ApiError::shutting_down(),
            ApiError::internal("told nobody"),
        ];
        let mut messages: Vec<String> =
            answers.iter().map(|answer| answer.detail.message.clone()).collect();

        let of_system = || std::io::Error::from_raw_os_error(98);
        let path = || PathBuf::from("server.toml");
        let settings = || SettingsError::OpenWithoutKey { host: [0, 0, 0, 0].into() };
        let of_start: [ServerError; 4] = [
            settings().into(),
            ServerError::Listen { address: ([127, 0, 0, 1], 8080).into(), source: of_system() },
            ServerError::Runtime(of_system()),
            ServerError::Signals(of_system()),
        ];
        messages.extend(of_start.iter().map(ServerError::to_string));
        let hint = || " (is `port` meant?)".to_owned();
        let of_settings = [
            ConfigError::Io { path: path(), source: of_system() },
            ConfigError::not_toml(&path(), &"port = x".parse::<toml::Table>().unwrap_err()),
            ConfigError::Unknown { path: path(), name: "prot".to_owned(), hint: hint() },
            ConfigError::UnknownVariable { name: "SLOWBURN_PROT".to_owned(), hint: hint() },
            ConfigError::Kind {
                path: path(),
                name: "port".to_owned(),
                expected: "true or false",
            },
            SettingsError::BudgetTooSmall { token_budget: 1, max_running: 2 }.into(),
            SettingsError::RequestOverQueue { max_sequences: 2, max_waiting: 1 }.into(),
            SettingsError::BurstOverRate { burst: 2, rate: 1 }.into(),
        ];
        messages.extend(of_settings.iter().map(ConfigError::to_string));
        assert_in_words(&messages);
    }
}
