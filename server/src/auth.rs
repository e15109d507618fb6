//! API keys.

use std::fmt;
use std::str::FromStr;

use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use subtle::{Choice, ConstantTimeEq};

use super::error::ApiError;
use super::state::App;

/// The keys that clients may have.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKeys(Vec<String>);

impl FromStr for ApiKeys {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let keys: Vec<String> = text.split(',').map(|key| key.trim().to_owned()).collect();
        let is_usable = |key: &String| key.len() >= 8 && key.bytes().all(|b| b.is_ascii_graphic());
        // The keys themselves belong in no message.
        if keys.iter().all(is_usable) {
            Ok(ApiKeys(keys))
        } else {
            Err("a key has at least 8 characters of ASCII, without spaces".to_owned())
        }
    }
}

impl fmt::Debug for ApiKeys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} API keys", self.0.len())
    }
}

impl ApiKeys {
    // ANCHOR: accepts
    /// Whether `key` is one of them. It is compared with all of them, and to the end, so that the
    /// time does not reveal how much of a guess is right.
    fn accepts(&self, key: &str) -> bool {
        let equal = |known: &String| known.as_bytes().ct_eq(key.as_bytes());
        self.0.iter().map(equal).fold(Choice::from(0), |any, one| any | one).into()
    }
    // ANCHOR_END: accepts
}

/// Refuses requests without a key, where one is needed.
pub(super) async fn require_key(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let Some(keys) = &app.settings().api_key else {
        return Ok(next.run(request).await);
    };
    let header = request.headers().get(header::AUTHORIZATION);
    let Some(header) = header else {
        let message = "this server needs an API key: send it as `authorization: Bearer KEY`";
        return Err(ApiError::unauthorized(message));
    };
    let key = header.to_str().ok().and_then(bearer);
    if key.is_some_and(|key| keys.accepts(key)) {
        Ok(next.run(request).await)
    } else {
        Err(ApiError::unauthorized("this API key is not one of those that are known here"))
    }
}

/// The key of `Bearer KEY`. The scheme is case-insensitive.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}
