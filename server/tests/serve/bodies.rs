//! Whatever JSON comes, the answer has a status that is documented.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::common::test_server::TestServer;

/// How many bodies are tried.
const CASES: u32 = 20_000;

/// Any JSON value, not deeply nested.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3i64..300).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{0,8}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A value that a field could have.
fn likely() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0i64..5).prop_map(Value::from),
        (0.0..2.0f64).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "[a-z ]{0,20}".prop_map(Value::from),
        prop::collection::vec(0u32..1200, 0..5).prop_map(Value::from),
        prop::collection::vec("[a-z ]{1,8}", 0..6).prop_map(Value::from),
        prop::collection::btree_map("[0-9]{1,4}", -120.0..120.0f64, 0..3)
            .prop_map(|map| json!(map)),
        ("system|user|tool|king", "[a-z ]{0,9}")
            .prop_map(|(role, content)| json!([{ "role": role, "content": content }])),
        ("user", prop::collection::vec("[a-z ]{1,8}", 0..3)).prop_map(|(role, texts)| {
            let part = |text: &String| json!({ "type": "text", "text": text });
            let parts: Vec<Value> = texts.iter().map(part).collect();
            json!([{ "role": role, "content": parts }])
        }),
    ]
}

/// The query only tells the two apart here.
const IN_WORDS_OF_SGLANG: &str = "/generate?sglang";

const PATHS: [&str; 9] = [
    "/v1/completions",
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/embeddings",
    "/generate",
    IN_WORDS_OF_SGLANG,
    "/candidates",
    "/tokenize",
    "/detokenize",
];

const FIELDS: [&str; 56] = [
    "model",
    "prompt",
    "prompt",
    "messages",
    "messages",
    "text",
    "ids",
    "tokens",
    "content",
    "input",
    "input",
    "input_ids",
    "instructions",
    "sampling_params",
    "pooling",
    "encoding_format",
    "dimensions",
    "max_output_tokens",
    "metadata",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "best_of",
    "stream",
    "stream_options",
    "logprobs",
    "top_logprobs",
    "echo",
    "suffix",
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
    "response_format",
    "tools",
    "add_special_tokens",
    "add_generation_prompt",
    "continue_final_message",
    "chat_template_kwargs",
    "documents",
    "enable_thinking",
    "reasoning_effort",
    "n_predict",
    "count",
    "user",
    "store",
    "anything",
];

/// What a request for `path` cannot do without.
fn prompt_of(path: &str) -> (&'static str, Value) {
    match path {
        "/v1/chat/completions" => ("messages", json!([{ "role": "user", "content": "Once" }])),
        "/v1/responses" | "/v1/embeddings" => ("input", "Once".into()),
        IN_WORDS_OF_SGLANG | "/tokenize" => ("text", "Once".into()),
        "/detokenize" => ("ids", json!([5, 6])),
        _ => ("prompt", "Once".into()),
    }
}

/// Objects with the fields of requests, most of them with a value that is possible.
fn body(path: &'static str) -> impl Strategy<Value = Value> {
    let value = prop_oneof![4 => likely(), 1 => any_json()];
    let field = (prop::sample::select(&FIELDS[..]), value);
    let request = prop::collection::vec(field, 0..6).prop_map(move |fields| {
        let mut object = Map::new();
        // Without a prompt, all would be refused for the same reason.
        let (name, prompt) = prompt_of(path);
        object.insert(name.to_owned(), prompt);
        object.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        Value::Object(object)
    });
    prop_oneof![8 => request, 1 => any_json()]
}

#[test]
fn any_json_gets_a_documented_status() {
    let server = TestServer::start(&["--max-tokens", "2", "--log", "off"]);
    let agent: ureq::Agent =
        ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let accepted = Cell::new(0);
    let mut runner = TestRunner::new(Config { cases: CASES, ..Config::default() });
    let requests = prop::sample::select(&PATHS[..])
        .prop_flat_map(|path| body(path).prop_map(move |body| (path, body)));
    let outcome = runner.run(&requests, |(path, body)| {
        let mut response =
            agent.post(format!("http://{}{path}", server.address)).send_json(&body).unwrap();
        let status = response.status().as_u16();
        let text = response.body_mut().read_to_string().unwrap();
        prop_assert!([200, 400, 404].contains(&status), "{status} for {path} {body}: {text}");
        if status == 200 {
            accepted.set(accepted.get() + 1);
        } else {
            let answer: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(answer["error"]["message"].as_str().is_some_and(|m| !m.is_empty()));
        }
        Ok(())
    });
    outcome.unwrap();
    let accepted = accepted.get();
    assert!((CASES / 10..CASES * 9 / 10).contains(&accepted), "{accepted} of {CASES}");
}
