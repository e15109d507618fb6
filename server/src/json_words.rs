//! What is wrong with a field, in the words of JSON: the crates that find it speak of Rust's types.

use serde_json::Value;
use slowburn::outside::{expected_in_words, is_too_large, quoted};

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
        return expected_in_words(kind, is_too_large(problem));
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use garde::Validate;
    use serde::de::DeserializeOwned;
    use serde_json::json;
    use utoipa::ToSchema;

    use crate::foreign_words::assert_in_words;
    use crate::json::parse;
    use crate::wire::{
        CandidatesRequest, ChatCompletionRequest, CompletionRequest, DetokenizeRequest,
        EmbeddingsRequest, FormatOptions, GenerateBody, InputCall, InputCallOutput, InputMessage,
        LoadAdapterRequest, ResponseRequest, SamplingOptions, SglangRequest, SglangSampling,
        TemplateOptions, TokenizeRequest, UnloadAdapterRequest,
    };

    use super::*;

    /// What a person could have sent in the place of another value.
    fn wrong_values() -> [Value; 14] {
        [
            json!(null),
            json!(true),
            json!(-7),
            json!(0.5),
            json!(1e30),
            json!(u64::MAX),
            json!("text"),
            json!(""),
            json!([]),
            json!([[]]),
            json!([-1]),
            json!(["a", 1]),
            json!({}),
            json!({"-1": 0}),
        ]
    }

    /// The places of all values within another one.
    fn places(value: &Value, place: &str, all: &mut Vec<String>) {
        all.push(place.to_owned());
        match value {
            Value::Object(fields) => {
                fields
                    .iter()
                    .for_each(|(name, value)| places(value, &format!("{place}/{name}"), all));
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(index, item)| places(item, &format!("{place}/{index}"), all));
            }
            _ => {}
        }
    }

    /// Adds what is said of a request that is right but for one value. `whole` has all of its fields.
    fn refusals<T>(whole: &Value, messages: &mut BTreeSet<String>)
    where
        T: DeserializeOwned + Validate<Context = ()> + ToSchema,
    {
        let schema = serde_json::to_value(T::schema()).unwrap();
        for name in schema["properties"].as_object().unwrap().keys() {
            assert!(whole.get(name).is_some(), "{}: {name} is not tried", T::name());
        }
        if let Err(error) = parse::<T>(whole) {
            panic!("{}: {}", T::name(), error.body().error.message);
        }
        let mut all = Vec::new();
        places(whole, "", &mut all);
        let mut refused = 0;
        for place in &all[1..] {
            let mut without = whole.clone();
            let (within, name) = place.rsplit_once('/').unwrap();
            if let Some(Value::Object(fields)) = without.pointer_mut(within) {
                fields.remove(name);
            }
            let wrong = wrong_values().into_iter().map(|value| {
                let mut wrong = whole.clone();
                *wrong.pointer_mut(place).unwrap() = value;
                wrong
            });
            for request in wrong.chain([without]) {
                if let Err(error) = parse::<T>(&request) {
                    messages.insert(error.body().error.message);
                    refused += 1;
                }
            }
        }
        assert!(refused > 0, "{}", T::name());
    }

    #[test]
    fn every_refusal_of_a_field_is_in_words() {
        let mut all = BTreeSet::new();
        let tool = json!({
            "type": "function",
            "function": {"name": "f", "description": "x", "parameters": {}, "strict": true},
        });
        let flat_tool = json!({
            "type": "function", "name": "f", "description": "x", "parameters": {}, "strict": true,
        });
        let messages = json!([
            {
                "role": "user", "content": [{"type": "text", "text": "x"}], "name": "me",
                "tool_call_id": "1", "reasoning_content": "x", "reasoning": "x", "prefix": false,
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                ],
            },
            {"role": "user", "content": "x"},
        ]);
        refusals::<ChatCompletionRequest>(
            &json!({
                "model": "ember", "messages": messages, "max_completion_tokens": 1, "max_tokens": 1, "n": 1,
                "stream": false, "stream_options": {"include_usage": true}, "logprobs": true,
                "top_logprobs": 1, "tools": [tool],
                "tool_choice": {"type": "function", "function": {"name": "f"}},
                "parallel_tool_calls": true, "parse_special": true, "add_special_tokens": false,
                "max_reasoning_tokens": 1,
            }),
            &mut all,
        );
        refusals::<TemplateOptions>(
            &json!({
                "add_generation_prompt": true, "continue_final_message": false,
                "chat_template_kwargs": {"enable_thinking": true}, "documents": [{}],
                "enable_thinking": true, "reasoning_effort": "low",
            }),
            &mut all,
        );
        refusals::<CompletionRequest>(
            &json!({
                "model": "ember", "prompt": ["x"], "max_tokens": 1, "n": 1, "best_of": 1, "stream": false,
                "stream_options": {"include_usage": true}, "logprobs": 1, "echo": true,
                "parse_special": true, "add_special_tokens": true,
            }),
            &mut all,
        );
        refusals::<SamplingOptions>(
            &json!({
                "temperature": 1, "top_p": 1, "top_k": 1, "min_p": 0, "typical_p": 1,
                "repetition_penalty": 1, "frequency_penalty": 0, "presence_penalty": 0,
                "logit_bias": {"5": 1}, "seed": 1, "stop": ["x"], "stop_token_ids": [1],
                "ignore_eos": true,
            }),
            &mut all,
        );
        for format in [
            json!({"type": "json_schema", "json_schema": {"schema": {}}}),
            json!({"type": "json_object"}),
        ] {
            refusals::<FormatOptions>(
                &json!({
                    "response_format": format, "guided_json": {}, "guided_regex": "x",
                    "guided_choice": ["x"], "guided_grammar": "x",
                    "structured_outputs": {
                        "json": {}, "json_object": true, "regex": "x", "choice": ["x"], "grammar": "x",
                    },
                }),
                &mut all,
            );
        }
        refusals::<ResponseRequest>(
            &json!({
                "model": "ember", "input": "x", "instructions": "x", "max_output_tokens": 1,
                "stream": false, "include": ["x"], "top_logprobs": 1, "tools": [flat_tool],
                "tool_choice": {"type": "function", "name": "f"}, "parallel_tool_calls": true,
                "metadata": {"a": "b"}, "max_reasoning_tokens": 1, "enable_thinking": true,
                "chat_template_kwargs": {"enable_thinking": true},
            }),
            &mut all,
        );
        let parts = json!([{"type": "input_text", "text": "x"}]);
        refusals::<InputMessage>(
            &json!({"type": "message", "role": "user", "content": parts}),
            &mut all,
        );
        refusals::<InputCall>(
            &json!({"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}),
            &mut all,
        );
        refusals::<InputCallOutput>(
            &json!({"type": "function_call_output", "call_id": "1", "output": "x"}),
            &mut all,
        );
        refusals::<EmbeddingsRequest>(
            &json!({
                "model": "ember", "input": "x", "pooling": "mean", "encoding_format": "float",
                "dimensions": 1,
            }),
            &mut all,
        );
        refusals::<GenerateBody>(
            &json!({"prompt": "x", "max_tokens": 1, "stream": false, "logprobs": 1}),
            &mut all,
        );
        refusals::<CandidatesRequest>(
            &json!({
                "prompt": "x", "count": 1, "temperature": 1, "top_k": 1, "top_p": 1, "min_p": 0,
            }),
            &mut all,
        );
        refusals::<SglangRequest>(
            &json!({
                "model": "ember", "text": "x", "input_ids": [1], "sampling_params": {}, "stream": false,
                "rid": "x", "return_logprob": true, "top_logprobs_num": 1,
                "return_text_in_logprobs": true,
            }),
            &mut all,
        );
        refusals::<SglangSampling>(
            &json!({
                "max_new_tokens": 1, "n": 1, "sampling_seed": 1, "json_schema": {}, "regex": "x",
            }),
            &mut all,
        );
        refusals::<TokenizeRequest>(
            &json!({
                "model": "ember", "text": "x", "prompt": "x", "messages": messages, "content": "x",
                "add_special_tokens": true, "add_special": true, "parse_special": true,
                "return_token_strs": true, "with_pieces": true,
            }),
            &mut all,
        );
        refusals::<LoadAdapterRequest>(
            &json!({"lora_name": "x", "lora_path": "x", "load_inplace": true}),
            &mut all,
        );
        refusals::<UnloadAdapterRequest>(&json!({"lora_name": "x"}), &mut all);
        refusals::<DetokenizeRequest>(
            &json!({"model": "ember", "ids": [1], "tokens": [1]}),
            &mut all,
        );
        assert_in_words(&all.into_iter().collect::<Vec<_>>());
    }
}
