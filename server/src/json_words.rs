//! What is wrong with a field, in the words of JSON: the crates that find it speak of Rust's types.

use serde_json::Value;
use slowburn::outside::quoted;

use super::error::ApiError;

/// The error for the field at `path` of a request, of which a parser or a validator says `problem`.
pub(super) fn wrong_field(request: &Value, path: &str, problem: &str) -> ApiError {
    if let Some(field) = missing_field(problem) {
        let path = match path {
            "." => field.to_owned(),
            _ => format!("{path}.{field}"),
        };
        return ApiError::invalid(&path, format!("{path} is missing"));
    }
    if is_of_name(problem) {
        let object = path.rsplit_once('.').map_or(path, |(object, _)| object);
        let message = format!("{object} has a name that is no whole number of 0 or more");
        return ApiError::invalid(object, message);
    }
    let expected = expected(problem);
    let message = match find(request, path) {
        Some(found) => format!("{path} is {}, but must be {expected}", in_words(found)),
        None => format!("{path} must be {expected}"),
    };
    ApiError::invalid(path, message)
}

fn missing_field(problem: &str) -> Option<&str> {
    problem.strip_prefix("missing field `")?.strip_suffix('`')
}

/// Whether the problem is a name, of an object whose names are numbers: only such a name is parsed by
/// itself, and is a key or has lines. The request's own text may be before `expected`, but not behind it.
fn is_of_name(problem: &str) -> bool {
    let kind = problem.rsplit_once(", expected ").map_or(problem, |(_, kind)| kind);
    kind.starts_with("invalid value: expected key") || kind.contains(" at line ")
}

/// The value at a path such as `messages[0].role`.
fn find<'a>(request: &'a Value, path: &str) -> Option<&'a Value> {
    let pointer = path.replace(['.', '['], "/").replace(']', "");
    request.pointer(&format!("/{pointer}"))
}

/// A value, as far as it is short.
fn in_words(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// What the field should be.
fn expected(problem: &str) -> String {
    if let Some((_, kind)) = problem.rsplit_once(", expected ") {
        return match kind {
            "a boolean" => "true or false".to_owned(),
            "a string" | "string or map" => "a string".to_owned(),
            "a sequence" => "a list".to_owned(),
            "f32" | "f64" => "a number".to_owned(),
            "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64" | "usize"
                if is_too_large(problem) =>
            {
                "a smaller whole number".to_owned()
            }
            "i8" | "i16" | "i32" | "i64" => "a whole number".to_owned(),
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of 0 or more".to_owned(),
            "a map" => "an object".to_owned(),
            kind if kind.starts_with("struct ") => "an object".to_owned(),
            // The values of a field that has only some: "one of `system`, `user`".
            kind => kind.replace('`', "\""),
        };
    }
    if let Some(least) = problem.strip_prefix("length is lower than ") {
        return format!("at least {least} long");
    }
    match (problem.strip_prefix("lower than "), problem.strip_prefix("greater than ")) {
        (Some(least), _) => format!("{least} or more"),
        (_, Some(most)) => format!("{most} or less"),
        // A rule of this crate, which says what is expected.
        (None, None) => problem.to_owned(),
    }
}

/// Whether a whole number is greater than all of its type.
fn is_too_large(problem: &str) -> bool {
    let number = problem.strip_prefix("invalid value: integer `");
    number.is_some_and(|number| !number.starts_with('-'))
}
