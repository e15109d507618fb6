//! The document of the API at `/openapi.json`.

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use slowburn::tokenizer::MAX_STOP_LENGTH;
use utoipa::IntoResponses;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};

use super::refusals::{KeyRefusals, RateRefusals};
use crate::state::App;
use crate::unsupported;
use crate::wire::{MAX_INPUTS, MAX_STOPS};

/// The name of the API key in the document.
const API_KEY: &str = "api_key";

/// Says that these routes need an API key, or take any where the server has none.
pub(super) fn describe_key(document: &mut OpenApi, is_needed: bool) {
    let with_key = SecurityRequirement::new(API_KEY, [""; 0]);
    for operation in operations(document) {
        if is_needed {
            operation.responses.responses.extend(KeyRefusals::responses());
            operation.security = Some(vec![with_key.clone()]);
        } else {
            let without = SecurityRequirement::default();
            operation.security = Some(vec![without, with_key.clone()]);
        }
    }
    let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    document.components.get_or_insert_default().add_security_scheme(API_KEY, scheme);
}

/// Says that these routes count for the rate limit.
pub(super) fn describe_rate_limit(document: &mut OpenApi) {
    for operation in operations(document) {
        operation.responses.responses.extend(RateRefusals::responses());
    }
}

fn operations(document: &mut OpenApi) -> impl Iterator<Item = &mut Operation> {
    let items = document.paths.paths.values_mut();
    items.flat_map(|item| [&mut item.get, &mut item.post].into_iter().flatten())
}

/// The route of a document that the types of requests and responses have made.
pub(super) fn router(mut document: OpenApi) -> Router<App> {
    let refused: Vec<&str> = unsupported::names().collect();
    let refused = format!(
        " Unknown fields of a request are ignored, but for these, which are refused wherever a route does not describe them: {}.",
        refused.join(", "),
    );
    document.info.description.get_or_insert_default().push_str(&refused);
    let mut document = serde_json::to_value(document).unwrap_or_default();
    remove_unused(&mut document);
    let_overlap(&mut document);
    extend(
        &mut document,
        "SglangLogprob",
        json!({ "items": { "type": ["number", "string", "null"] } }),
    );
    leave_streams_open(&mut document);
    let answer = async move |State(app): State<App>| Json(with_limits(document, &app));
    Router::new().route("/openapi.json", get(answer))
}

/// Takes the schema from bodies that are streams of events. It describes the JSON within an event, and
/// OpenAPI 3.1 has no place for that: a reader would compare it with the event.
fn leave_streams_open(document: &mut Value) {
    let Some(Value::Object(paths)) = document.pointer_mut("/paths") else {
        return;
    };
    for path in paths.values_mut() {
        let stream = path.pointer_mut("/post/responses/200/content/text~1event-stream");
        if let Some(Value::Object(stream)) = stream {
            stream.remove("schema");
        }
    }
}

/// Types of which a value may have several: an empty list is one of texts and one of ids.
fn let_overlap(document: &mut Value) {
    for name in ["AnyBody", "TokenList"] {
        let schema = document.pointer_mut(&format!("/components/schemas/{name}"));
        if let Some(Value::Object(schema)) = schema
            && let Some(types) = schema.remove("oneOf")
        {
            schema.insert("anyOf".into(), types);
        }
    }
}

/// What counts the sequences of a request, in the schemas.
const SEQUENCES: [&str; 4] = [
    "WithFormat_CompletionRequest/allOf/0/properties/n",
    "WithFormat_CompletionRequest/allOf/0/properties/best_of",
    "ChatCompletionRequest/properties/n",
    "WithSampling_SglangSampling/allOf/0/properties/n",
];

/// What bounds the tokens of an answer.
const MAX_TOKENS: [&str; 6] = [
    "WithFormat_CompletionRequest/allOf/0/properties/max_tokens",
    "ChatCompletionRequest/properties/max_tokens",
    "ChatCompletionRequest/properties/max_completion_tokens",
    "WithFormat_GenerateBody/allOf/0/properties/max_tokens",
    "WithSampling_ResponseRequest/allOf/0/properties/max_output_tokens",
    "WithSampling_SglangSampling/allOf/0/properties/max_new_tokens",
];

/// What is a token id.
const IDS: [&str; 6] = [
    "DetokenizeRequest/properties/ids/items",
    "DetokenizeRequest/properties/tokens/items",
    "EmbeddingInput/oneOf/2/items",
    "EmbeddingInput/oneOf/3/items/items",
    "PromptInput/oneOf/2/items",
    "PromptInput/oneOf/3/items/items",
];

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
        ("EmbeddingInput/oneOf/1", json!({ "minItems": 1, "maxItems": MAX_INPUTS })),
        ("EmbeddingInput/oneOf/3", json!({ "minItems": 1, "maxItems": MAX_INPUTS })),
        ("PromptInput/oneOf/1", json!({ "maxItems": most })),
        ("PromptInput/oneOf/3", json!({ "maxItems": most })),
    ] {
        extend(&mut document, path, limits);
    }
    limit(&mut document, &SEQUENCES, most as u64);
    if let Some(most) = app.settings().max_tokens {
        limit(&mut document, &MAX_TOKENS, most);
    }
    if let Some(service) = app.loaded() {
        let largest = service.pretrained.model.config().vocab_size - 1;
        limit(&mut document, &IDS, largest as u64);
        let names = "/components/schemas/SamplingOptions/properties/logit_bias/propertyNames";
        if let Some(schema) = document.pointer_mut(names) {
            *schema = json!({ "pattern": format!("^({})$", up_to(largest)) });
        }
    }
    document
}

/// Removes the schemas that nothing refers to: those of requests are repeated within
/// [`WithSampling`](crate::wire::WithSampling), and would lack the limits there.
fn remove_unused(document: &mut Value) {
    loop {
        let text = document.to_string();
        let Some(Value::Object(schemas)) = document.pointer_mut("/components/schemas") else {
            return;
        };
        let count = schemas.len();
        schemas.retain(|name, _| text.contains(&format!("\"#/components/schemas/{name}\"")));
        if schemas.len() == count {
            return;
        }
    }
}

/// Bounds the numbers at `paths`.
fn limit(document: &mut Value, paths: &[&str], most: u64) {
    for path in paths {
        extend(document, path, json!({ "maximum": most }));
    }
}

/// Adds keywords to the schema at `path`.
fn extend(document: &mut Value, path: &str, keywords: Value) {
    let schema = document.pointer_mut(&format!("/components/schemas/{path}"));
    debug_assert!(schema.is_some(), "there is no schema {path}");
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
