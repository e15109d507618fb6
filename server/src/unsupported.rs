//! Fields of other servers that would change the answer. Where a route reads none of that name, a
//! request with one is refused. Fields that change no token (`user`, `store`, `metadata`) are ignored.

use serde_json::{Map, Value};

use super::error::ApiError;

/// A field, and the values that ask for nothing, as JSON. Null always does.
pub(super) type Field = (&'static str, &'static [&'static str]);

/// The fields of requests, whatever their route. One that a route reads is not refused there.
const OF_REQUESTS: [Field; 130] = [
    // OpenAI.
    ("tools", &["[]"]),
    ("tool_choice", &[r#""none""#, r#""auto""#]),
    ("functions", &["[]"]),
    ("function_call", &[r#""none""#, r#""auto""#]),
    ("response_format", &[r#"{"type":"text"}"#]),
    ("modalities", &[r#"["text"]"#]),
    ("audio", &[]),
    ("web_search_options", &[]),
    ("suffix", &[r#""""#]),
    ("echo", &["false"]),
    ("n", &["1"]),
    ("best_of", &["1"]),
    ("max_tokens", &[]),
    ("max_completion_tokens", &[]),
    ("max_output_tokens", &[]),
    ("reasoning_effort", &[]),
    ("reasoning", &["{}"]),
    ("instructions", &[r#""""#]),
    ("verbosity", &[r#""medium""#]),
    // The body that Python's client makes has the fields of `extra_body` beside the others.
    ("extra_body", &["{}"]),
    // What an answer must look like.
    ("guided_json", &[]),
    ("guided_regex", &[]),
    ("guided_choice", &[]),
    ("guided_grammar", &[]),
    ("guided_json_object", &["false"]),
    ("guided_whitespace_pattern", &[]),
    ("structured_outputs", &[]),
    ("structural_tag", &[]),
    ("json_schema", &[]),
    ("grammar", &[r#""""#]),
    ("regex", &[]),
    ("ebnf", &[]),
    ("format", &[r#""""#]),
    // The chat template.
    ("chat_template", &[]),
    ("chat_template_kwargs", &["{}"]),
    ("add_generation_prompt", &["true"]),
    ("continue_final_message", &["false"]),
    ("documents", &["[]"]),
    ("enable_thinking", &[]),
    ("thinking", &[]),
    ("think", &[]),
    ("max_reasoning_tokens", &[]),
    ("thinking_budget", &[]),
    ("thinking_token_budget", &[]),
    ("thinking_budget_tokens", &["-1"]),
    ("system", &[r#""""#]),
    ("safe_prompt", &["false"]),
    ("continue_", &["false"]),
    // The prompt.
    ("chat_template_args", &["{}"]),
    ("template", &[]),
    ("template_vars", &["{}"]),
    ("template_kwargs", &["{}"]),
    ("response_prefix", &[r#""""#]),
    ("add_special_tokens", &["true"]),
    ("add_bos_token", &["true"]),
    ("prompt_embeds", &[]),
    ("truncate_prompt_tokens", &[]),
    ("truncate", &[]),
    ("prompt_truncate_len", &[]),
    ("images", &["[]"]),
    ("negative_prompt", &[r#""""#]),
    ("lora", &["[]"]),
    // The length, and the end.
    ("max_new_tokens", &[]),
    ("n_predict", &[]),
    ("num_predict", &[]),
    ("max_length", &[]),
    ("min_tokens", &["0"]),
    ("min_new_tokens", &["0"]),
    ("min_length", &["0"]),
    ("stop_sequences", &["[]"]),
    ("stop_regex", &["[]"]),
    ("custom_stopping_strings", &["[]"]),
    ("include_stop_str_in_output", &["false"]),
    ("no_stop_trim", &["false"]),
    ("ban_eos_token", &["false"]),
    ("n_indent", &["0"]),
    ("t_max_predict_ms", &["0", "-1"]),
    // The sampler.
    ("do_sample", &["true"]),
    ("random_seed", &[]),
    ("typical", &["1"]),
    ("bad_words", &["[]"]),
    ("bad_words_ids", &["[]"]),
    ("force_words_ids", &["[]"]),
    ("suppress_tokens", &["[]"]),
    ("begin_suppress_tokens", &["[]"]),
    ("sequence_bias", &["{}", "[]"]),
    ("forced_eos_token_id", &[]),
    ("banned_tokens", &["[]"]),
    ("custom_token_bans", &[r#""""#]),
    ("allowed_token_ids", &[]),
    ("logits_processors", &["[]"]),
    ("custom_logit_processor", &[]),
    ("vllm_xargs", &["{}"]),
    ("samplers", &[]),
    ("sampler_priority", &["[]"]),
    ("min_keep", &["0"]),
    ("use_beam_search", &["false"]),
    ("num_beams", &["1"]),
    ("num_beam_groups", &["1"]),
    ("diversity_penalty", &["0"]),
    ("length_penalty", &["1"]),
    ("exponential_decay_length_penalty", &[]),
    ("penalty_alpha", &["0"]),
    ("guidance_scale", &["1"]),
    ("no_repeat_ngram_size", &["0"]),
    ("repeat_penalty", &["1"]),
    ("repeat_last_n", &["-1"]),
    ("repetition_penalty_range", &["0"]),
    ("encoder_repetition_penalty", &["1"]),
    ("mirostat", &["0"]),
    ("mirostat_mode", &["0"]),
    ("dry_multiplier", &["0"]),
    ("xtc_probability", &["0"]),
    ("dynatemp_range", &["0"]),
    ("dynamic_temperature", &["false"]),
    ("smoothing_factor", &["0"]),
    ("top_a", &["0"]),
    ("top_n_sigma", &["-1", "0"]),
    ("nsigma", &["0"]),
    ("top_h", &["0"]),
    ("tail_free_sampling", &["1"]),
    ("tfs", &["1"]),
    ("tfs_z", &["1"]),
    ("epsilon_cutoff", &["0"]),
    ("eta_cutoff", &["0"]),
    // How the text is shown.
    ("skip_special_tokens", &["true"]),
    ("return_full_text", &["false"]),
    // Objects that other servers take such fields from.
    ("sampling_params", &["{}"]),
    ("parameters", &["{}"]),
    ("options", &["{}"]),
];

/// What a field is called here.
const OTHER_NAMES: [(&str, &str); 21] = [
    ("template_kwargs", "`chat_template_kwargs`"),
    ("template_vars", "`chat_template_kwargs`"),
    ("chat_template_args", "`chat_template_kwargs`"),
    ("stop_sequences", "`stop`"),
    ("custom_stopping_strings", "`stop`"),
    ("repeat_penalty", "`repetition_penalty`"),
    ("random_seed", "`seed`"),
    ("typical", "`typical_p`"),
    ("think", "`enable_thinking`"),
    ("thinking_budget", "`max_reasoning_tokens`"),
    ("thinking_token_budget", "`max_reasoning_tokens`"),
    ("thinking_budget_tokens", "`max_reasoning_tokens`"),
    ("system", "a message with the role `system`"),
    ("instructions", "a message with the role `system`"),
    ("reasoning", "`reasoning_effort`"),
    ("continue_", "`continue_final_message`"),
    ("partial", "`prefix`"),
    ("sampling_params", "its fields in the request itself"),
    ("parameters", "its fields in the request itself"),
    ("options", "its fields in the request itself"),
    ("extra_body", "its fields in the request itself"),
];

/// The names of the greatest number of tokens. Each route reads some of them.
const LIMITS: [&str; 7] = [
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "n_predict",
    "num_predict",
    "max_length",
];

/// The fields that count or bound generated texts: nothing, where none is generated.
pub(super) const OF_GENERATION: [&str; 6] = [
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "n",
    "best_of",
];

/// The fields of the sampler, for routes that read them elsewhere, or only some of them.
pub(super) const OF_SAMPLERS: [Field; 13] = [
    ("temperature", &[]),
    ("top_p", &["1"]),
    ("top_k", &["-1", "0"]),
    ("min_p", &["0"]),
    ("typical_p", &["1"]),
    ("repetition_penalty", &["1"]),
    ("frequency_penalty", &["0"]),
    ("presence_penalty", &["0"]),
    ("logit_bias", &["{}"]),
    ("seed", &[]),
    ("stop", &["[]"]),
    ("stop_token_ids", &["[]"]),
    ("ignore_eos", &["false"]),
];

/// The fields that say how a conversation is written, of a request and, behind `messages.`, of its
/// messages.
pub(super) const OF_TEMPLATES: [&str; 9] = [
    "add_generation_prompt",
    "continue_final_message",
    "chat_template_kwargs",
    "documents",
    "enable_thinking",
    "reasoning_effort",
    "messages.prefix",
    "messages.reasoning_content",
    "messages.reasoning",
];

/// The fields of the messages of a chat.
const OF_MESSAGES: [Field; 11] = [
    ("thinking", &[r#""""#]),
    ("tool_plan", &[r#""""#]),
    ("continue", &["false"]),
    ("tool_calls", &["[]"]),
    ("function_call", &[]),
    ("audio", &[]),
    ("images", &["[]"]),
    ("prefix", &["false"]),
    ("partial", &["false"]),
    ("reasoning_content", &[r#""""#]),
    ("reasoning", &[r#""""#]),
];

/// The names of the fields of requests that are refused.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OF_REQUESTS.iter().map(|(name, _)| *name)
}

/// Refuses a request that asks for what is not supported by its route, which reads the fields
/// `heeded`: `messages.prefix` is one of each message.
pub(super) fn check(request: &Value, heeded: &[&str]) -> Result<(), ApiError> {
    let Value::Object(fields) = request else {
        return Ok(());
    };
    check_part(fields, heeded, "")?;
    let messages = fields.get("messages").and_then(Value::as_array);
    let heeded: Vec<&str> =
        heeded.iter().filter_map(|name| name.strip_prefix("messages.")).collect();
    for (index, message) in messages.into_iter().flatten().enumerate() {
        if let Value::Object(fields) = message {
            check_unheeded(&OF_MESSAGES, &heeded, fields, &format!("messages[{index}]."))?;
        }
    }
    Ok(())
}

/// As [`check`], of an object in a request that has fields of requests. `within` is what comes before
/// their names.
///
/// # Errors
/// As [`check`].
pub(super) fn check_part(
    fields: &Map<String, Value>,
    heeded: &[&str],
    within: &str,
) -> Result<(), ApiError> {
    check_unheeded(&OF_REQUESTS, heeded, fields, within)
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
    check_unheeded(unsupported, &[], fields, within)
}

fn check_unheeded(
    unsupported: &[Field],
    heeded: &[&str],
    fields: &Map<String, Value>,
    within: &str,
) -> Result<(), ApiError> {
    for (name, harmless) in unsupported.iter().filter(|(name, _)| !heeded.contains(name)) {
        let asks = |value: &&Value| !value.is_null() && !harmless.contains(&&*value.to_string());
        if fields.get(*name).filter(asks).is_none() {
            continue;
        }
        let allowed = match (name_here(name, heeded), harmless.first()) {
            (Some(here), _) => format!("send {here} instead"),
            (None, Some(value)) => format!("leave it out, or send {value}"),
            (None, None) => "leave it out".to_owned(),
        };
        let field = format!("{within}{name}");
        let message = format!("`{field}` is not supported here: {allowed}");
        return Err(ApiError::unsupported(field, message));
    }
    Ok(())
}

/// What to send in the place of a field.
fn name_here(name: &str, heeded: &[&str]) -> Option<String> {
    if LIMITS.contains(&name) {
        let here = LIMITS.iter().find(|limit| heeded.contains(limit));
        return here.map(|limit| format!("`{limit}`"));
    }
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
    other.map(|(_, here)| (*here).to_owned())
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
            let found = found.unwrap();
            let advice = found.strip_prefix(&format!("`{name}` is not supported here: "));
            let advice = advice.unwrap_or_else(|| panic!("{name}: {found}"));
            assert!(advice.starts_with("leave it out") || advice.starts_with("send "), "{found}");
            let harmless = harmless.iter().map(|text| serde_json::from_str(text).unwrap());
            for value in harmless.chain([Value::Null]) {
                assert_eq!(message(&json!({ "prompt": "x", name: value })), None);
            }
        }
    }

    #[test]
    fn a_field_with_another_name_here_says_which() {
        let found = |fields: Value, heeded: &[&str]| {
            check(&fields, heeded).unwrap_err().body().error.message
        };
        for (fields, heeded, here) in [
            (json!({"n_predict": 5}), &["max_tokens"][..], "send `max_tokens` instead"),
            (
                json!({"max_tokens": 5}),
                &["max_output_tokens"],
                "send `max_output_tokens` instead",
            ),
            (json!({"max_new_tokens": 5}), &[], "leave it out"),
            (json!({"stop_sequences": ["."]}), &[], "send `stop` instead"),
            (json!({"reasoning": {"effort": "low"}}), &[], "send `reasoning_effort` instead"),
            (
                json!({"instructions": "Be brief."}),
                &["messages.reasoning"],
                "send a message with the role `system` instead",
            ),
            (json!({"think": false}), &["enable_thinking"], "send `enable_thinking` instead"),
        ] {
            assert!(found(fields, heeded).ends_with(here));
        }
        for (name, _) in OTHER_NAMES {
            let is_listed = |fields: &[Field]| fields.iter().any(|(field, _)| *field == name);
            assert!(is_listed(&OF_REQUESTS) || is_listed(&OF_MESSAGES), "{name}");
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
        assert_eq!(found(&["audio", "tools"]), place.clone());
        assert_eq!(found(&["audio", "tools", "tool_calls"]), place);
        assert_eq!(found(&["audio", "tools", "messages.tool_calls"]), None);
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
