//! What a model thinks, beside its answer: in a chat and a response, whole and streamed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::http_client::events;
use crate::common::test_server::TestServer;
use crate::common::watchdog::watch;

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

/// A server of the bundled model with a template, in whose vocabulary some words are others. The folder is to
/// be kept.
fn server_with(template: &str, words: &[(&str, &str)]) -> (TestServer, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let ember = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/ember");
    for name in ["config.json", "model.safetensors"] {
        fs::copy(ember.join(name), folder.path().join(name)).unwrap();
    }
    let tokenizer = fs::read(ember.join("tokenizer.json")).unwrap();
    let mut tokenizer: Value = serde_json::from_slice(&tokenizer).unwrap();
    for (word, other) in words {
        let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
        let id = vocabulary.remove(*word).unwrap();
        vocabulary.insert((*other).to_owned(), id);
        // Nothing may be merged into a word that is gone.
        let merges = tokenizer["model"]["merges"].as_array_mut().unwrap();
        let merged = |merge: &Value| match merge {
            Value::Array(parts) => parts.iter().filter_map(Value::as_str).collect::<String>(),
            merge => merge.as_str().unwrap().replacen(' ', "", 1),
        };
        merges.retain(|merge| merged(merge) != *word);
    }
    fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    fs::write(folder.path().join("chat_template.jinja"), template).unwrap();
    let server = TestServer::start(&["--model", folder.path().to_str().unwrap()]);
    (server, folder)
}

/// Ember goes on with ` there was a young sleepy bear`, and opens and closes a thought with these words.
fn thinker() -> (TestServer, TempDir) {
    let template = "{% for m in messages %}{% if m.reasoning_content %}({{ m.reasoning_content }}){% endif %}{{ m.content }}{% endfor %}";
    server_with(template, &[("Ġthere", "<think>"), ("Ġyoung", "</think>")])
}

fn ask(server: &TestServer, path: &str, body: &Value) -> Value {
    let (status, answer) = server.ask(path, &body.to_string());
    assert_eq!(status, 200, "{body}: {answer}");
    serde_json::from_str(&answer).unwrap()
}

fn stream(server: &TestServer, path: &str, mut body: Value) -> Vec<Value> {
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    let (status, answer) = server.ask(path, &body.to_string());
    assert_eq!(status, 200, "{body}: {answer}");
    let events = events(&answer);
    let events = events.iter().filter(|event| **event != "[DONE]");
    events.map(|event| serde_json::from_str(event).unwrap()).collect()
}

#[test]
fn a_chat_has_the_thought_beside_the_answer() {
    watch(|| {
        let (server, _folder) = thinker();
        let body = json!({
            "messages": [{"role": "user", "content": "Once upon a time,"}], "temperature": 0, "max_tokens": 12,
            "logprobs": true,
        });
        let whole = ask(&server, CHAT, &body);
        let message = &whole["choices"][0]["message"];
        assert_eq!(message["reasoning_content"], "was a");
        assert!(message["content"].as_str().unwrap().starts_with("sleepy bear"), "{message}");
        // The marks, and two words between them.
        assert_eq!(whole["usage"]["completion_tokens_details"]["reasoning_tokens"], 4);
        assert_eq!(whole["usage"]["completion_tokens"], 12);
        let logprobs = whole["choices"][0]["logprobs"]["content"].as_array().unwrap();
        assert_eq!(logprobs.len(), 12);

        let chunks = stream(&server, CHAT, body);
        let (mut thought, mut text) = (String::new(), String::new());
        let mut tokens = 0;
        for chunk in &chunks {
            let delta = &chunk["choices"][0]["delta"];
            let thinks = delta["reasoning_content"].as_str();
            assert!(thinks.is_none() || text.is_empty(), "{chunk}");
            thought.push_str(thinks.unwrap_or_default());
            text.push_str(delta["content"].as_str().unwrap_or_default());
            let logprobs = chunk["choices"][0]["logprobs"]["content"].as_array();
            tokens += logprobs.map_or(0, Vec::len);
        }
        assert_eq!(thought, "was a");
        assert_eq!(text, message["content"].as_str().unwrap());
        assert_eq!(tokens, 12);
        assert_eq!(
            chunks.last().unwrap()["usage"]["completion_tokens_details"],
            whole["usage"]["completion_tokens_details"]
        );
    });
}

#[test]
fn a_response_has_an_item_for_the_thought() {
    watch(|| {
        let (server, _folder) = thinker();
        let body = json!({
            "input": "Once upon a time,", "temperature": 0, "max_output_tokens": 12,
            "include": ["message.output_text.logprobs"],
        });
        let whole = ask(&server, RESPONSES, &body);
        let [thought, message] = whole["output"].as_array().unwrap().as_slice() else {
            panic!("{whole}")
        };
        let part = json!({"type": "reasoning_text", "text": "was a"});
        assert_eq!((&thought["type"], &thought["summary"]), (&json!("reasoning"), &json!([])));
        assert_eq!(
            (&thought["status"], &thought["content"]),
            (&json!("completed"), &json!([part]))
        );
        let text = &message["content"][0];
        assert!(text["text"].as_str().unwrap().starts_with("sleepy bear"), "{text}");
        assert_eq!(text["logprobs"].as_array().unwrap().len(), 8);
        assert_eq!(whole["usage"]["output_tokens_details"]["reasoning_tokens"], 4);

        let events = stream(&server, RESPONSES, body);
        let mut kinds: Vec<&str> =
            events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        kinds.dedup();
        assert_eq!(
            kinds,
            [
                "response.created",
                "response.in_progress",
                "response.output_item.added",
                "response.content_part.added",
                "response.reasoning_text.delta",
                "response.reasoning_text.done",
                "response.content_part.done",
                "response.output_item.done",
                "response.output_item.added",
                "response.content_part.added",
                "response.output_text.delta",
                "response.output_text.done",
                "response.content_part.done",
                "response.output_item.done",
                "response.incomplete",
            ]
        );
        let of_kind =
            |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
        let deltas: String = of_kind("response.reasoning_text.delta")
            .iter()
            .map(|event| event["delta"].as_str().unwrap())
            .collect();
        assert_eq!(deltas, "was a");
        assert_eq!(of_kind("response.reasoning_text.done")[0]["text"], "was a");
        assert_eq!(of_kind("response.content_part.done")[0]["part"], part);
        assert_eq!(of_kind("response.incomplete")[0]["response"]["usage"], whole["usage"]);

        // Sent back, the template sees both.
        let user = json!({"role": "user", "content": "Then"});
        let first = json!({"role": "user", "content": "Once upon a time,"});
        let count = |input: Value| {
            let body = json!({"input": input, "max_output_tokens": 1});
            ask(&server, RESPONSES, &body)["usage"]["input_tokens"].clone()
        };
        let content = text["text"].clone();
        let messages = json!([
            first, {"role": "assistant", "content": content, "reasoning_content": "was a"}, user,
        ]);
        let expected = ask(&server, "/tokenize", &json!({ "messages": messages }))["count"].clone();
        assert_eq!(count(json!([first, thought, message, user])), expected);
        let summary =
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "was a"}]});
        assert_eq!(count(json!([first, summary, message, user])), expected);
        assert_ne!(count(json!([first, message, user])), expected);
    });
}

#[test]
fn a_template_may_open_the_thought() {
    watch(|| {
        let template = "{% if enable_thinking is defined %}{{ enable_thinking }}, {{ thinking }}: {% endif %}\
            {{ messages[-1].content }}{% if enable_thinking is not false %}<think>\n{% endif %}";
        let (server, _folder) = server_with(template, &[]);
        let user = json!([{"role": "user", "content": "Once upon a time"}]);
        let body = json!({"messages": user, "temperature": 0, "max_tokens": 5});
        let open = ask(&server, CHAT, &body);
        let message = &open["choices"][0]["message"];
        assert!(
            message["reasoning_content"].as_str().is_some_and(|text| !text.is_empty()),
            "{open}"
        );
        assert_eq!(message["content"], "");
        assert_eq!(open["usage"]["completion_tokens_details"]["reasoning_tokens"], 5);
        let response = json!({"input": user, "temperature": 0, "max_output_tokens": 5});
        let response = ask(&server, RESPONSES, &response);
        assert_eq!(response["output"].as_array().unwrap().len(), 1);
        assert_eq!(response["output"][0]["status"], "incomplete");
        // A field of its own says that nothing is thought, as the variable does.
        for fields in [
            json!({"enable_thinking": false}),
            json!({"chat_template_kwargs": {"enable_thinking": false, "thinking": false}}),
        ] {
            let mut body = body.clone();
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let mut asked = json!({"input": user, "temperature": 0, "max_output_tokens": 5});
            asked.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let asked = ask(&server, RESPONSES, &asked);
            assert_eq!(asked["output"][0]["type"], "message", "{asked}");
            let closed = ask(&server, CHAT, &body);
            let message = &closed["choices"][0]["message"];
            assert_eq!(message.get("reasoning_content"), None, "{closed}");
            assert!(!message["content"].as_str().unwrap().is_empty(), "{closed}");
            assert_eq!(closed["usage"].get("completion_tokens_details"), None);
            let written =
                json!({"text": "False, False: Once upon a time", "add_special_tokens": false});
            let expected = ask(&server, "/tokenize", &written)["count"].clone();
            assert_eq!(closed["usage"]["prompt_tokens"], expected);
        }
        // What is bound to a form has no room for thoughts.
        let mut bound = body;
        bound["structured_outputs"] = json!({"choice": ["yes", "no"]});
        let bound = ask(&server, CHAT, &bound);
        let content = &bound["choices"][0]["message"]["content"];
        assert!(["yes", "no"].map(Value::from).contains(content), "{bound}");
    });
}

#[test]
fn a_budget_ends_the_thought() {
    watch(|| {
        let (server, _folder) = thinker();
        let body = json!({
            "messages": [{"role": "user", "content": "Once upon a time,"}], "temperature": 0, "max_tokens": 12, "n": 2,
        });
        let with = |body: &Value, fields: Value| {
            let mut body = body.clone();
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            body
        };
        let free = ask(&server, CHAT, &body);
        for (budget, expected, tokens) in [
            (0, None, 2),
            (1, Some("was"), 3),
            (2, Some("was a"), 4),
            (100, Some("was a"), 4),
        ] {
            let body = with(&body, json!({ "max_reasoning_tokens": budget }));
            let whole = ask(&server, CHAT, &body);
            for choice in whole["choices"].as_array().unwrap() {
                let message = &choice["message"];
                assert_eq!(message["reasoning_content"].as_str(), expected, "{whole}");
                assert!(!message["content"].as_str().unwrap().is_empty(), "{whole}");
            }
            if budget >= 2 {
                assert_eq!(whole["choices"], free["choices"]);
            }
            // Of both texts, with the marks.
            let usage = &whole["usage"];
            assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 2 * tokens);
            assert_eq!(usage["completion_tokens"], 24);
            let alone = ask(&server, CHAT, &with(&body, json!({"n": 1, "logprobs": true})));
            assert_eq!(alone["choices"][0]["message"], whole["choices"][0]["message"]);
            let text = |field: &str| {
                let chunks = stream(&server, CHAT, with(&body, json!({"n": 1})));
                let deltas = chunks.iter().map(|chunk| &chunk["choices"][0]["delta"][field]);
                deltas.filter_map(Value::as_str).collect::<String>()
            };
            assert_eq!(text("reasoning_content"), expected.unwrap_or_default());
            assert_eq!(whole["choices"][0]["message"]["content"], text("content"));
        }
        let body = json!({
            "input": "Once upon a time,", "temperature": 0, "max_output_tokens": 12, "thinking_token_budget": 1,
        });
        let response = ask(&server, RESPONSES, &body);
        assert_eq!(response["output"][0]["content"][0]["text"], "was", "{response}");
        assert_eq!(response["usage"]["output_tokens_details"]["reasoning_tokens"], 3);

        let (server, _folder) = server_with("{{ messages[-1].content }}", &[]);
        let body =
            json!({"messages": [{"role": "user", "content": "x"}], "max_reasoning_tokens": 1});
        let (status, answer) = server.ask(CHAT, &body.to_string());
        assert_eq!(status, 400, "{answer}");
        assert!(answer.contains("`max_reasoning_tokens` is for a model that thinks"), "{answer}");
    });
}

#[test]
fn the_form_of_an_answer_begins_behind_the_thought() {
    watch(|| {
        let (server, _folder) = thinker();
        let tools = json!([{"type": "function", "function": {"name": "feed"}}]);
        for (fields, thought) in [
            (json!({"structured_outputs": {"choice": ["yes", "no"]}}), "was a"),
            (
                json!({"structured_outputs": {"regex": "yes|no"}, "max_reasoning_tokens": 1}),
                "was",
            ),
            (
                json!({"response_format": {"type": "json_schema", "json_schema": {
                    "name": "x", "schema": {"enum": ["yes", "no"]},
                }}}),
                "was a",
            ),
            (json!({"tools": tools, "tool_choice": "required"}), "was a"),
        ] {
            let mut body = json!({
                "messages": [{"role": "user", "content": "Once upon a time,"}], "temperature": 0, "max_tokens": 40,
            });
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let whole = ask(&server, CHAT, &body);
            let message = &whole["choices"][0]["message"];
            assert_eq!(message["reasoning_content"], thought, "{whole}");
            if fields.get("tools").is_some() {
                assert_eq!(message["tool_calls"][0]["function"]["name"], "feed", "{whole}");
                assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
            } else {
                let content = message["content"].as_str().unwrap().trim_matches('"');
                assert!(["yes", "no"].contains(&content), "{whole}");
            }
        }
        let body = json!({
            "input": "Once upon a time,", "temperature": 0, "max_output_tokens": 40, "max_reasoning_tokens": 1,
            "text": {"format": {"type": "json_schema", "name": "x", "schema": {"enum": ["yes", "no"]}}},
        });
        let response = ask(&server, RESPONSES, &body);
        assert_eq!(response["output"][0]["content"][0]["text"], "was", "{response}");
        let text = response["output"][1]["content"][0]["text"].as_str().unwrap();
        assert!(["\"yes\"", "\"no\""].contains(&text), "{response}");
    });
}

#[test]
fn a_thought_is_refused_where_no_template_writes_it() {
    watch(|| {
        let server = TestServer::start(&[]);
        let thought =
            json!({"type": "reasoning", "content": [{"type": "reasoning_text", "text": "x"}]});
        let body = json!({"input": [{"role": "user", "content": "x"}, thought]});
        let (status, answer) = server.ask(RESPONSES, &body.to_string());
        assert_eq!(status, 400, "{answer}");
        assert!(answer.contains("`input[1]` is for a chat template"), "{answer}");
    });
}
