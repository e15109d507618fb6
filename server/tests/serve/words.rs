//! What is wrong with a request is said in the words of JSON, with the field, what was found and
//! what is expected.

use crate::common::completions::COMPLETIONS;
use crate::common::test_server::TestServer;
use crate::common::watchdog::watch;
use serde_json::{Value, json};

/// Words of Rust, and of its crates.
const FOREIGN: [&str; 12] = [
    "usize",
    "u32",
    "u64",
    "i64",
    "f64",
    "struct",
    "variant",
    "sequence",
    "a map",
    "integer `",
    "floating point",
    "length is",
];

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
                    assert!(message.contains(field), "{body}: {message}");
                    let found = FOREIGN.iter().find(|word| message.contains(*word));
                    assert_eq!(found, None, "{body}: {message}");
                }
            }
        }
        assert!(refused > 300, "{refused}");
    });
}
