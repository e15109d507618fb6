//! What several routes have in common, for the document of the API.

use utoipa::{IntoResponses, ToSchema};

use crate::error::ErrorBody;

/// The error of a route that needs an API key, on a server that has some. The document adds it.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only described")]
pub(super) enum KeyRefusals {
    /// No API key, or one that is not known.
    #[response(status = 401)]
    Key(ErrorBody),
}

/// The error of a route that counts for the rate limit. The document adds it.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only described")]
pub(super) enum RateRefusals {
    /// Too many requests of this client, or of all.
    #[response(status = 429)]
    TooMany(ErrorBody),
}

/// The error of every route.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only described")]
pub(super) enum HostRefusals {
    /// The `Host` header names another machine.
    #[response(status = 403)]
    Host(ErrorBody),
}

/// The errors of a route that reads no body.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only described")]
pub(super) enum Refusals {
    /// The `Host` header names another machine.
    #[response(status = 403)]
    Host(ErrorBody),
    /// The server failed.
    #[response(status = 500)]
    Internal(ErrorBody),
    /// The server is starting, overloaded or shutting down.
    #[response(status = 503)]
    Unavailable(ErrorBody),
}

/// The further errors of a route that reads a body.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "only described")]
pub(super) enum BodyRefusals {
    /// A field is wrong.
    #[response(status = 400)]
    Invalid(ErrorBody),
    /// No such model.
    #[response(status = 404)]
    NoModel(ErrorBody),
    /// The body came too slowly.
    #[response(status = 408)]
    Slow(ErrorBody),
    /// The body is too large.
    #[response(status = 413)]
    TooLarge(ErrorBody),
    /// The body is not declared as JSON.
    #[response(status = 415)]
    NotJson(ErrorBody),
}

/// A server-sent event.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub(super) struct StreamEvent {
    /// One JSON object: a piece of the answer, or an error. OpenAI's routes end with `[DONE]`.
    data: String,
}
