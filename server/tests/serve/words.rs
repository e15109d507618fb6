//! What is wrong with a request is said in the words of JSON, with the field, what was found and
//! what is expected.

use crate::common::completions::COMPLETIONS;
use crate::common::test_server::TestServer;
use crate::common::watchdog::watch;
use crate::foreign_words::{assert_in_words, foreign_word};
use serde_json::{Value, json};

const CHAT: &str = "/v1/chat/completions";
const EMBEDDINGS: &str = "/v1/embeddings";

/// The message and the field of a refusal.
fn refusal(server: &TestServer, path: &str, body: &Value) -> (String, String) {
    let (status, answer) = server.ask(path, &body.to_string());
    assert_eq!(status, 400, "{body} gave {answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
    (text("message"), text("param"))
}

fn with(mut body: Value, field: &str, value: &Value) -> Value {
    body[field] = value.clone();
    body
}

#[test]
fn a_wrong_field_is_named_with_what_was_found_and_what_is_expected() {
    watch(|| {
        let server = TestServer::start(&[]);
        let prompt = || json!({"prompt": "x"});
        let chat = |message: Value| json!({ "messages": [message] });
        for (path, body, param, message) in [
            (COMPLETIONS, json!({}), "prompt", "prompt is missing"),
            (CHAT, json!({}), "messages", "messages is missing"),
            (
                CHAT,
                chat(json!({"content": "x"})),
                "messages[0].role",
                "messages[0].role is missing",
            ),
            (
                CHAT,
                json!({"messages": []}),
                "messages",
                "messages is an empty list, but must be at least 1 long",
            ),
            (
                CHAT,
                json!({"messages": "x"}),
                "messages",
                "messages is \"x\", but must be a list",
            ),
            (
                CHAT,
                chat(json!("x")),
                "messages[0]",
                "messages[0] is \"x\", but must be an object",
            ),
            (
                CHAT,
                chat(json!({"role": "king", "content": "x"})),
                "messages[0].role",
                "messages[0].role is \"king\", but must be one of \"system\", \"developer\", \"user\", \"assistant\", \"tool\"",
            ),
            (
                CHAT,
                chat(json!({"role": "user", "content": 3})),
                "messages[0].content",
                "messages[0].content is 3, but must be a string, or a list of parts of type \"text\"",
            ),
            (
                CHAT,
                with(chat(json!({"role": "user", "content": "x"})), "max_tokens", &json!(0)),
                "max_tokens",
                "max_tokens is 0, but must be 1 or more, or -1 for as many as the context and the KV cache hold",
            ),
            (
                COMPLETIONS,
                json!({"prompt": {"a": 1}}),
                "prompt",
                "prompt is an object, but must be a string, a list of strings, a list of token ids, or a list of lists of token ids",
            ),
            (
                COMPLETIONS,
                with(prompt(), "n", &json!(0)),
                "n",
                "n is 0, but must be 1 or more",
            ),
            (
                COMPLETIONS,
                with(prompt(), "n", &json!(-1)),
                "n",
                "n is -1, but must be a whole number of 0 or more",
            ),
            (
                COMPLETIONS,
                with(prompt(), "logprobs", &json!(21)),
                "logprobs",
                "logprobs is 21, but must be 20 or less",
            ),
            (
                COMPLETIONS,
                with(prompt(), "stream", &json!("yes")),
                "stream",
                "stream is \"yes\", but must be true or false",
            ),
            (
                COMPLETIONS,
                with(prompt(), "temperature", &json!("hot")),
                "temperature",
                "temperature is \"hot\", but must be a number",
            ),
            (
                COMPLETIONS,
                with(prompt(), "top_k", &json!(2.5)),
                "top_k",
                "top_k is 2.5, but must be a whole number",
            ),
            (
                COMPLETIONS,
                with(prompt(), "logit_bias", &json!({"x": 1})),
                "logit_bias",
                "logit_bias has a name that is no whole number of 0 or more",
            ),
            (
                COMPLETIONS,
                with(prompt(), "logit_bias", &json!({"-5": 1})),
                "logit_bias",
                "logit_bias has a name that is no whole number of 0 or more",
            ),
            (
                COMPLETIONS,
                with(prompt(), "logit_bias", &json!({"x": "y"})),
                "logit_bias",
                "logit_bias has a name that is no whole number of 0 or more",
            ),
            (
                COMPLETIONS,
                with(prompt(), "max_tokens", &json!("x, expected key at line 3")),
                "max_tokens",
                "max_tokens is \"x, expected key at line 3\", but must be a whole number",
            ),
            (
                COMPLETIONS,
                with(prompt(), "seed", &json!(u64::MAX)),
                "seed",
                "seed is 18446744073709551615, but must be a smaller whole number",
            ),
            (
                COMPLETIONS,
                with(prompt(), "stop_token_ids", &json!([1_u64 << 32])),
                "stop_token_ids[0]",
                "stop_token_ids[0] is 4294967296, but must be a smaller whole number",
            ),
            (
                EMBEDDINGS,
                json!({"input": 3}),
                "input",
                "input is 3, but must be a string, a list of strings, a list of token ids, or a list of lists of token ids",
            ),
            (
                "/generate",
                json!({"text": 3}),
                "text",
                "text is 3, but must be a string or a list of strings, or for input_ids a list of token ids or a list of such lists",
            ),
        ] {
            let expected = (message.to_owned(), param.to_owned());
            assert_eq!(refusal(&server, path, &body), expected, "{body}");
        }
    });
}

#[test]
fn no_message_speaks_rust() {
    watch(|| {
        let server = TestServer::start(&[]);
        let chat = json!({"messages": [{"role": "user", "content": "x"}]});
        let fields = [
            "model",
            "prompt",
            "messages",
            "max_tokens",
            "n",
            "best_of",
            "stream",
            "stream_options",
            "logprobs",
            "top_logprobs",
            "echo",
            "parse_special",
            "temperature",
            "top_p",
            "top_k",
            "min_p",
            "typical_p",
            "repetition_penalty",
            "frequency_penalty",
            "presence_penalty",
            "logit_bias",
            "seed",
            "stop",
            "stop_token_ids",
            "ignore_eos",
            "add_special_tokens",
            "response_format",
            "guided_json",
            "guided_regex",
            "guided_choice",
            "guided_grammar",
            "structured_outputs",
            "n_predict",
            "length_penalty",
        ];
        let wrong = [
            json!(true),
            json!(-7),
            json!(0.5),
            json!(1e30),
            json!("text"),
            json!([]),
            json!([[]]),
            json!([-1]),
            json!(["a", 1]),
            json!({}),
            json!({"a": []}),
            json!({"-1": 0}),
        ];
        let mut refused = 0;
        for (path, body) in [(COMPLETIONS, json!({"prompt": "x"})), (CHAT, chat)] {
            for field in fields {
                for value in &wrong {
                    let mut body = with(body.clone(), "max_tokens", &json!(1));
                    body[field] = value.clone();
                    let (status, answer) = server.ask(path, &body.to_string());
                    if status == 200 {
                        continue;
                    }
                    refused += 1;
                    let answer: Value = serde_json::from_str(&answer).unwrap();
                    let message = answer["error"]["message"].as_str().unwrap();
                    let is_named = message.contains(field) || answer["error"]["param"] == *field;
                    assert!(is_named, "{body}: {message}");
                    assert_eq!(foreign_word(message), None, "{body}: {message}");
                }
            }
        }
        assert!(refused > 300, "{refused}");
    });
}

/// What is said where no field is to blame, or where a field is read beyond its JSON.
#[test]
fn other_refusals_are_in_words_too() {
    watch(|| {
        let server = TestServer::start(&[]);
        let chat = |fields: Value| {
            let mut body = json!({"messages": [{"role": "user", "content": "x"}], "max_tokens": 1});
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            body.to_string()
        };
        let tool = |parameters: Value| json!([{"type": "function", "function": {"name": "f", "parameters": parameters}}]);
        let mut messages = Vec::new();
        for (path, body) in [
            (COMPLETIONS, "{\"prompt\": ".to_owned()),
            (COMPLETIONS, "[1]".to_owned()),
            (COMPLETIONS, "{\"prompt\": \"\u{1}\"}".to_owned()),
            (COMPLETIONS, "{\"prompt\": 1} x".to_owned()),
            (COMPLETIONS, "[".repeat(1000)),
            (COMPLETIONS, json!({"prompt": []}).to_string()),
            (COMPLETIONS, json!({"prompt": [99999]}).to_string()),
            (COMPLETIONS, json!({"prompt": "fox ".repeat(600)}).to_string()),
            (COMPLETIONS, json!({"prompt": "fox ".repeat(60_000)}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "n": 65}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "best_of": 2, "n": 3}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "best_of": 2, "stream": true}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "top_k": -3}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "top_p": 0}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "temperature": -1}).to_string()),
            (
                COMPLETIONS,
                json!({"prompt": "x", "stop": ["a", "b", "c", "d", "e"]}).to_string(),
            ),
            (COMPLETIONS, json!({"prompt": "x", "stop": [""]}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "logit_bias": {"5": 500}}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "logit_bias": {"99999": 1}}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "model": "gpt-9"}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_regex": "(a"}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_choice": []}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_json": "{"}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_json": {"type": "x"}}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_json": {"minimum": "x"}}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_json": {"required": 3}}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_json": {"$ref": "#/x"}}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_json": {"pattern": "("}}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_grammar": "start: x"}).to_string()),
            (
                COMPLETIONS,
                json!({"prompt": "x", "guided_grammar": "start: <|x|>"}).to_string(),
            ),
            (
                COMPLETIONS,
                json!({"prompt": "x", "guided_grammar": "start: <[1-x]>"}).to_string(),
            ),
            (COMPLETIONS, json!({"prompt": "x", "guided_grammar": "start: \"a"}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_grammar": ""}).to_string()),
            (COMPLETIONS, json!({"prompt": "x", "guided_grammar": "root ::= x"}).to_string()),
            (
                COMPLETIONS,
                json!({"prompt": "x", "guided_regex": "a", "guided_choice": ["b"]}).to_string(),
            ),
            (CHAT, chat(json!({"response_format": 3}))),
            (CHAT, chat(json!({"response_format": {"type": "xml"}}))),
            (CHAT, chat(json!({"response_format": {}}))),
            (CHAT, chat(json!({"top_logprobs": 3}))),
            (CHAT, chat(json!({"tools": 3}))),
            (CHAT, chat(json!({"tools": [{"type": "search"}]}))),
            (CHAT, chat(json!({"tools": tool(json!(3))}))),
            (CHAT, chat(json!({"tools": tool(json!({"type": "array"}))}))),
            (CHAT, chat(json!({"tools": tool(json!({"properties": 3}))}))),
            (CHAT, chat(json!({"tool_choice": "required"}))),
            (CHAT, chat(json!({"tool_choice": 3}))),
            (
                CHAT,
                chat(
                    json!({"tool_choice": {"type": "function", "function": {"name": "g"}}, "tools": tool(json!({}))}),
                ),
            ),
            ("/v1/responses", json!({"input": 3}).to_string()),
            ("/v1/responses", json!({"input": []}).to_string()),
            ("/v1/responses", json!({"input": [{"type": "image"}]}).to_string()),
            ("/v1/responses", json!({"input": [{"role": "user", "content": 3}]}).to_string()),
            (
                "/v1/responses",
                json!({"input": "x", "text": {"format": {"type": "x"}}}).to_string(),
            ),
            ("/v1/responses", json!({"input": "x", "previous_response_id": "x"}).to_string()),
            (EMBEDDINGS, json!({"input": []}).to_string()),
            (EMBEDDINGS, json!({"input": "x", "dimensions": 3}).to_string()),
            ("/generate", json!({"text": "x", "input_ids": [1]}).to_string()),
            ("/generate", json!({"text": []}).to_string()),
            ("/candidates", json!({"prompt": "x", "count": 0}).to_string()),
            ("/tokenize", json!({}).to_string()),
            ("/detokenize", json!({}).to_string()),
            ("/v1/nothing", "{}".to_owned()),
            ("/health", "{}".to_owned()),
        ] {
            let (status, answer) = server.ask(path, &body);
            assert!((400..500).contains(&status), "{path} {body}: {status} {answer}");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            messages.push(answer["error"]["message"].as_str().unwrap().to_owned());
        }
        assert_in_words(&messages);
    });
}

#[test]
fn a_path_that_is_no_text_is_refused_in_json() {
    watch(|| {
        let server = TestServer::start(&[]);
        for path in ["/v1/models/%ff", "/v1/models/a/%ff", "/v1/models/%ff/b"] {
            let mut connection = server.connect();
            connection.get(path).unwrap();
            let (head, body) = connection.answer().unwrap();
            assert_eq!((head.status, head.header("content-type")), (400, Some("application/json")));
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(body["error"]["code"], "invalid_path");
        }
    });
}

/// To find its tokens would take seconds.
#[test]
fn a_text_that_no_context_holds_is_refused_before_its_tokens_are_found() {
    watch(|| {
        let server = TestServer::start(&[]);
        let text = "once upon a time ".repeat(120_000);
        for (path, field) in [
            ("/tokenize", "text"),
            ("/tokenize", "prompt"),
            ("/tokenize", "content"),
            (COMPLETIONS, "prompt"),
            (EMBEDDINGS, "input"),
            ("/generate", "prompt"),
            ("/generate", "text"),
        ] {
            let start = std::time::Instant::now();
            let (message, param) = refusal(&server, path, &json!({ field: text }));
            assert_eq!(param, field);
            assert!(
                message.contains("2040000 bytes") && message.contains("512 tokens"),
                "{message}"
            );
            assert!(start.elapsed().as_secs_f64() < 2.0, "{path}: {:?}", start.elapsed());
        }
        let messages = json!([{"role": "user", "content": text}]);
        for path in ["/tokenize", CHAT] {
            let (_, param) = refusal(&server, path, &json!({ "messages": messages }));
            assert_eq!(param, "messages");
        }
    });
}
