//! Fields of other servers that would change the answer, and that nothing here heeds: a request with
//! one is refused. Fields that change no token (`user`, `store`, `metadata`) are ignored.

use serde_json::{Map, Value};

use super::error::ApiError;

/// A field, and the values that ask for nothing, as JSON. Null always does.
pub(super) type Field = (&'static str, &'static [&'static str]);

/// The fields of requests, whatever their route.
const OF_REQUESTS: [Field; 34] = [
    ("tools", &["[]"]),
    ("tool_choice", &[r#""none""#, r#""auto""#]),
    ("functions", &["[]"]),
    ("function_call", &[r#""none""#, r#""auto""#]),
    ("response_format", &[r#"{"type":"text"}"#]),
    ("guided_json", &[]),
    ("guided_regex", &[]),
    ("guided_choice", &[]),
    ("guided_grammar", &[]),
    ("structured_outputs", &[]),
    ("structural_tag", &[]),
    ("json_schema", &[]),
    ("grammar", &[r#""""#]),
    ("regex", &[]),
    ("ebnf", &[]),
    ("modalities", &[r#"["text"]"#]),
    ("audio", &[]),
    ("web_search_options", &[]),
    ("suffix", &[r#""""#]),
    ("min_tokens", &["0"]),
    ("bad_words", &["[]"]),
    ("allowed_token_ids", &[]),
    ("use_beam_search", &["false"]),
    ("mirostat", &["0"]),
    ("dry_multiplier", &["0"]),
    ("xtc_probability", &["0"]),
    ("dynatemp_range", &["0"]),
    ("repeat_penalty", &["1"]),
    ("chat_template", &[]),
    ("chat_template_kwargs", &["{}"]),
    ("add_generation_prompt", &["true"]),
    ("continue_final_message", &["false"]),
    ("truncate_prompt_tokens", &[]),
    ("include_stop_str_in_output", &["false"]),
];

/// The fields of the messages of a chat.
const OF_MESSAGES: [Field; 3] = [
    ("tool_calls", &["[]"]),
    ("function_call", &[]),
    ("audio", &[]),
];

/// The names of the fields of requests that are refused.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OF_REQUESTS.iter().map(|(name, _)| *name)
}

/// Refuses a request that asks for what is not supported by its route, which reads the fields
/// `heeded`.
pub(super) fn check(request: &Value, heeded: &[&str]) -> Result<(), ApiError> {
    let Value::Object(fields) = request else {
        return Ok(());
    };
    let unheeded = |fields: &[Field]| -> Vec<Field> {
        fields.iter().copied().filter(|(name, _)| !heeded.contains(name)).collect()
    };
    check_fields(&unheeded(&OF_REQUESTS), fields, "")?;
    let messages = fields.get("messages").and_then(Value::as_array);
    for (index, message) in messages.into_iter().flatten().enumerate() {
        if let Value::Object(fields) = message {
            check_fields(&unheeded(&OF_MESSAGES), fields, &format!("messages[{index}]."))?;
        }
    }
    Ok(())
}

/// Refuses the first of the `unsupported` fields that asks for something. `within` is what comes
/// before the names of these fields.
///
/// # Errors
/// A field that is not supported, by its name.
pub(super) fn check_fields(
    unsupported: &[Field],
    fields: &Map<String, Value>,
    within: &str,
) -> Result<(), ApiError> {
    for (name, harmless) in unsupported {
        let asks = |value: &&Value| !value.is_null() && !harmless.contains(&&*value.to_string());
        if fields.get(*name).filter(asks).is_some() {
            let allowed = match harmless.first() {
                Some(value) => format!("leave it out, or send {value}"),
                None => "leave it out".to_owned(),
            };
            let field = format!("{within}{name}");
            let message = format!("`{field}` is not supported here: {allowed}");
            return Err(ApiError::unsupported(field, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(request: &Value) -> Option<String> {
        check(request, &[]).err().map(|error| error.body().error.message)
    }

    #[test]
    fn every_field_is_refused_by_its_name_unless_it_asks_for_nothing() {
        for (name, harmless) in OF_REQUESTS {
            let found = message(&json!({ "prompt": "x", name: { "some": ["thing"] } }));
            let expected = format!("`{name}` is not supported here: leave it out");
            assert!(found.unwrap().starts_with(&expected), "{name}");
            let harmless = harmless.iter().map(|text| serde_json::from_str(text).unwrap());
            for value in harmless.chain([Value::Null]) {
                assert_eq!(message(&json!({ "prompt": "x", name: value })), None);
            }
        }
    }

    #[test]
    fn a_field_of_a_message_is_named_with_its_place() {
        let chat = |calls: Value| {
            json!({"messages": [
                {"role": "user", "content": "x"},
                {"role": "assistant", "content": null, "tool_calls": calls},
            ]})
        };
        assert_eq!(message(&chat(json!([]))), None);
        let found = message(&chat(json!([{ "id": "1" }]))).unwrap();
        assert!(found.starts_with("`messages[1].tool_calls` is not supported"), "{found}");
    }

    #[test]
    fn a_route_that_reads_a_field_does_not_refuse_it() {
        let request = json!({"tools": [{}], "audio": {}, "messages": [{"tool_calls": [{}]}]});
        let found = |heeded: &[&str]| check(&request, heeded).err().map(|e| e.body().error.param);
        assert_eq!(found(&["audio"]), Some(Some("tools".to_owned())));
        let place = Some(Some("messages[0].tool_calls".to_owned()));
        assert_eq!(found(&["audio", "tools"]), place);
        assert_eq!(found(&["audio", "tools", "tool_calls"]), None);
    }

    #[test]
    fn what_changes_no_token_is_ignored() {
        let harmless = json!({
            "user": "me", "store": true, "metadata": {"a": "b"}, "parallel_tool_calls": false,
            "service_tier": "auto", "anything": [1],
        });
        assert_eq!(message(&harmless), None);
    }
}
