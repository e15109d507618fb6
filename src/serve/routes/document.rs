//! The document of the API at `/openapi.json`.

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use utoipa::openapi::OpenApi;

use crate::serve::state::App;
use crate::serve::wire::MAX_STOPS;
use crate::tokenizer::MAX_STOP_LENGTH;

/// The route of a document that the types of requests and responses have made.
pub(super) fn router(document: OpenApi) -> Router<App> {
    let document = serde_json::to_value(document).unwrap_or_default();
    let answer = async move |State(app): State<App>| Json(with_limits(document, &app));
    Router::new().route("/openapi.json", get(answer))
}

/// Adds the limits that the types do not know: those of lists and maps, of the settings, and of the
/// model once it is loaded.
fn with_limits(mut document: Value, app: &App) -> Value {
    let most = app.settings().max_sequences();
    for (path, limits) in [
        ("Stop/oneOf/0", json!({ "minLength": 1, "maxLength": MAX_STOP_LENGTH })),
        ("Stop/oneOf/1", json!({ "maxItems": MAX_STOPS })),
        ("Stop/oneOf/1/items", json!({ "minLength": 1, "maxLength": MAX_STOP_LENGTH })),
        (
            "SamplingOptions/properties/logit_bias/additionalProperties",
            json!({ "minimum": -100, "maximum": 100 }),
        ),
        ("PromptInput/oneOf/1", json!({ "maxItems": most })),
        ("PromptInput/oneOf/3", json!({ "maxItems": most })),
        (
            "WithSampling_CompletionRequest/allOf/0/properties/n",
            json!({ "maximum": most.min(128) }),
        ),
        (
            "WithSampling_CompletionRequest/allOf/0/properties/best_of",
            json!({ "maximum": most.min(128) }),
        ),
        (
            "WithSampling_ChatCompletionRequest/allOf/0/properties/n",
            json!({ "maximum": most.min(128) }),
        ),
    ] {
        extend(&mut document, path, limits);
    }
    if let Some(most) = app.settings().max_tokens {
        for path in [
            "WithSampling_CompletionRequest/allOf/0/properties/max_tokens",
            "WithSampling_ChatCompletionRequest/allOf/0/properties/max_tokens",
            "WithSampling_ChatCompletionRequest/allOf/0/properties/max_completion_tokens",
            "WithSampling_GenerateBody/allOf/0/properties/max_tokens",
        ] {
            extend(&mut document, path, json!({ "maximum": most }));
        }
    }
    if let Some(service) = app.loaded() {
        let largest = service.pretrained.model.config().vocab_size - 1;
        for path in [
            "DetokenizeRequest/properties/ids/items",
            "PromptInput/oneOf/2/items",
            "PromptInput/oneOf/3/items/items",
        ] {
            extend(&mut document, path, json!({ "maximum": largest }));
        }
        let names = "/components/schemas/SamplingOptions/properties/logit_bias/propertyNames";
        if let Some(schema) = document.pointer_mut(names) {
            *schema = json!({ "pattern": format!("^({})$", up_to(largest)) });
        }
    }
    document
}

/// Adds keywords to the schema at `path`.
fn extend(document: &mut Value, path: &str, keywords: Value) {
    let schema = document.pointer_mut(&format!("/components/schemas/{path}"));
    if let (Some(Value::Object(schema)), Value::Object(keywords)) = (schema, keywords) {
        schema.extend(keywords);
    }
}

/// A regular expression for the decimal numbers from 0 to `largest`, without leading zeros.
fn up_to(largest: usize) -> String {
    let digits = largest.to_string();
    // Fewer digits, or one digit that is smaller where all before it are equal, or equality.
    let mut choices = vec![digits.clone()];
    if digits.len() > 1 {
        choices.push(format!("0|[1-9][0-9]{{0,{}}}", digits.len() - 2));
    }
    for (i, digit) in digits.bytes().enumerate() {
        let least = if i == 0 && digits.len() > 1 {
            b'1'
        } else {
            b'0'
        };
        if digit > least {
            let (from, to) = (char::from(least), char::from(digit - 1));
            let rest = digits.len() - i - 1;
            choices.push(format!("{}[{from}-{to}][0-9]{{{rest}}}", &digits[..i]));
        }
    }
    choices.join("|")
}
