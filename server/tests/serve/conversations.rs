//! How a conversation is written: what a request can say of it, and what is refused.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::completions::COMPLETIONS;
use crate::common::test_server::TestServer;
use crate::common::watchdog::watch;

const CHAT: &str = "/v1/chat/completions";

const TEMPLATE: &str = "{% if documents %}({{ documents[0].text }}){% endif %}\
    {% for m in messages %}{{ m.role[0] }}:{% if m.reasoning_content %}[{{ m.reasoning_content }}]{% endif %}{{ m.content }};{% endfor %}\
    {% if enable_thinking is defined %}{{ enable_thinking }};{% endif %}\
    {% if reasoning_effort is defined %}{{ reasoning_effort }};{% endif %}\
    {% if add_generation_prompt %}a:{% endif %}";

/// A server of the bundled model with a template. The folder is to be kept.
fn with_template(template: &str) -> (TestServer, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let ember = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/ember");
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        fs::copy(ember.join(name), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("chat_template.jinja"), template).unwrap();
    let server = TestServer::start(&["--model", folder.path().to_str().unwrap()]);
    (server, folder)
}

fn ask(server: &TestServer, path: &str, body: &Value) -> (u16, Value) {
    let (status, answer) = server.ask(path, &body.to_string());
    (status, serde_json::from_str(&answer).unwrap())
}

fn ids_of_text(server: &TestServer, text: &str) -> Value {
    let body = json!({"text": text, "add_special_tokens": false});
    let (status, answer) = ask(server, "/tokenize", &body);
    assert_eq!(status, 200, "{answer}");
    answer["ids"].clone()
}

/// Messages of a user and of the assistant, the last of which has these further fields.
fn two_messages(content: &str, fields: &Value) -> Value {
    let mut last = json!({"role": "assistant", "content": content});
    last.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!([{"role": "user", "content": "fox"}, last])
}

#[test]
fn a_conversation_is_written_as_the_request_says() {
    watch(|| {
        let (server, _folder) = with_template(TEMPLATE);
        let user = json!([{"role": "user", "content": "fox"}]);
        let plain = || two_messages("the dog ", &json!({}));
        for (fields, messages, written) in [
            (json!({}), user.clone(), "u:fox;a:"),
            (json!({"add_generation_prompt": true}), user.clone(), "u:fox;a:"),
            (json!({"add_generation_prompt": false}), user.clone(), "u:fox;"),
            (json!({"add_generation_prompt": false}), plain(), "u:fox;a:the dog ;"),
            (json!({"continue_final_message": true}), plain(), "u:fox;a:the dog "),
            (
                json!({"continue_final_message": true, "add_generation_prompt": false}),
                plain(),
                "u:fox;a:the dog ",
            ),
            (json!({}), two_messages("the dog", &json!({"prefix": true})), "u:fox;a:the dog"),
            (
                json!({}),
                two_messages("the dog", &json!({"prefix": false})),
                "u:fox;a:the dog;a:",
            ),
            (
                json!({"chat_template_kwargs": {"enable_thinking": false}}),
                user.clone(),
                "u:fox;false;a:",
            ),
            (
                json!({"chat_template_kwargs": {"unknown": [1, {"a": null}]}}),
                user.clone(),
                "u:fox;a:",
            ),
            (json!({"reasoning_effort": "low"}), user.clone(), "u:fox;low;a:"),
            (
                json!({"documents": [{"title": "t", "text": "red"}]}),
                user.clone(),
                "(red)u:fox;a:",
            ),
            (json!({"documents": []}), user.clone(), "u:fox;a:"),
            (
                json!({}),
                two_messages("dog", &json!({"reasoning_content": "why"})),
                "u:fox;a:[why]dog;a:",
            ),
            (
                json!({}),
                two_messages("dog", &json!({"reasoning": "why"})),
                "u:fox;a:[why]dog;a:",
            ),
            (
                json!({}),
                two_messages("dog", &json!({"reasoning_content": "", "reasoning": "why"})),
                "u:fox;a:[why]dog;a:",
            ),
            (
                json!({}),
                two_messages("dog", &json!({"reasoning_content": null})),
                "u:fox;a:dog;a:",
            ),
        ] {
            let mut body = fields.clone();
            body["messages"] = messages;
            let (status, answer) = ask(&server, "/tokenize", &body);
            assert_eq!(status, 200, "{body}: {answer}");
            let expected = ids_of_text(&server, written);
            // The template's `false` is that of Python.
            let of_python = ids_of_text(&server, &written.replace("false", "False"));
            assert!([expected, of_python].contains(&answer["ids"]), "{body}: {answer}");
            body["max_tokens"] = json!(1);
            let (status, chat) = ask(&server, CHAT, &body);
            assert_eq!(status, 200, "{body}: {chat}");
            assert_eq!(chat["usage"]["prompt_tokens"], answer["count"], "{body}");
        }
    });
}

#[test]
fn what_a_conversation_cannot_be_is_refused_by_its_field() {
    watch(|| {
        let (server, _folder) = with_template(TEMPLATE);
        let user = || json!([{"role": "user", "content": "fox"}]);
        let user_prefix = json!([{"role": "user", "content": "fox", "prefix": true}]);
        let early = json!([
            {"role": "assistant", "content": "x", "prefix": true}, {"role": "user", "content": "fox"},
        ]);
        let prefix = || two_messages("x", &json!({"prefix": true}));
        let both = json!({"continue_final_message": true, "add_generation_prompt": true});
        for (fields, messages, param) in [
            (both, two_messages("x", &json!({})), "add_generation_prompt"),
            (json!({"add_generation_prompt": true}), prefix(), "add_generation_prompt"),
            (json!({"continue_final_message": false}), prefix(), "continue_final_message"),
            (json!({}), user_prefix, "messages[0].prefix"),
            (json!({}), early, "messages[0].prefix"),
            (json!({"documents": ["x"]}), user(), "documents"),
            (json!({"documents": {"a": 1}}), user(), "documents"),
            (
                json!({"chat_template_kwargs": {"tools": []}}),
                user(),
                "chat_template_kwargs.tools",
            ),
            (
                json!({"chat_template_kwargs": {"add_generation_prompt": true}}),
                user(),
                "chat_template_kwargs.add_generation_prompt",
            ),
            (
                json!({"chat_template_kwargs": {"messages": []}}),
                user(),
                "chat_template_kwargs.messages",
            ),
            (
                json!({"chat_template_kwargs": {"chat_template": "x"}}),
                user(),
                "chat_template_kwargs.chat_template",
            ),
            (json!({"chat_template_kwargs": [1]}), user(), "chat_template_kwargs"),
            (json!({"add_special_tokens": true}), user(), "add_special_tokens"),
            (json!({"continue_final_message": "yes"}), user(), "continue_final_message"),
            (json!({"reasoning": {"effort": "low"}}), user(), "reasoning"),
            (json!({"instructions": "Be brief."}), user(), "instructions"),
        ] {
            let mut body = fields;
            body["messages"] = messages;
            for path in ["/tokenize", CHAT] {
                let (status, answer) = ask(&server, path, &body);
                assert_eq!(status, 400, "{path} {body}: {answer}");
                assert_eq!(answer["error"]["param"], param, "{path} {body}: {answer}");
            }
        }
    });
}

#[test]
fn a_message_that_the_template_omits_cannot_be_continued() {
    watch(|| {
        let (server, _folder) = with_template("{% for m in messages %}{{ m.role }}{% endfor %}");
        let messages = two_messages("the dog", &json!({"prefix": true}));
        let (status, answer) = ask(&server, CHAT, &json!({ "messages": messages }));
        assert_eq!(status, 400, "{answer}");
        assert_eq!(answer["error"]["param"], "messages");
    });
}

/// A model without a template continues the texts of the messages, so that nothing else is to be ignored.
#[test]
fn what_only_a_template_reads_is_refused_without_one() {
    watch(|| {
        let server = TestServer::start(&[]);
        let messages = || two_messages("the dog", &json!({}));
        let thought = |name: &str| two_messages("the dog", &json!({name: "why"}));
        for (fields, messages, param) in [
            (json!({"chat_template_kwargs": {"a": 1}}), messages(), "chat_template_kwargs"),
            (json!({"documents": [{"text": "x"}]}), messages(), "documents"),
            (json!({"enable_thinking": false}), messages(), "enable_thinking"),
            (json!({"reasoning_effort": "low"}), messages(), "reasoning_effort"),
            (json!({}), thought("reasoning_content"), "messages[1].reasoning_content"),
            (json!({}), thought("reasoning"), "messages[1].reasoning"),
        ] {
            let mut body = fields;
            body["messages"] = messages;
            let (status, answer) = ask(&server, CHAT, &body);
            assert_eq!(status, 400, "{body}: {answer}");
            assert_eq!(answer["error"]["param"], param, "{body}: {answer}");
            assert_eq!(answer["error"]["code"], "unsupported_parameter");
        }
        for fields in [
            json!({"continue_final_message": true}),
            json!({"add_generation_prompt": false}),
            json!({"chat_template_kwargs": {}}),
        ] {
            let mut body = fields;
            body["messages"] = messages();
            body["max_tokens"] = json!(1);
            assert_eq!(ask(&server, CHAT, &body).0, 200, "{body}");
        }
        let effort = json!({"input": "fox", "reasoning": {"effort": "low"}});
        let (status, answer) = ask(&server, "/v1/responses", &effort);
        assert_eq!((status, &answer["error"]["param"]), (400, &json!("reasoning.effort")));
    });
}

#[test]
fn what_changes_a_response_within_an_object_is_refused_by_its_field() {
    watch(|| {
        let server = TestServer::start(&[]);
        for (fields, param) in [
            (json!({"text": {"verbosity": "low"}}), "text.verbosity"),
            (json!({"text": "x"}), "text"),
            (json!({"reasoning": {"max_tokens": 5}}), "reasoning.max_tokens"),
            (json!({"reasoning": "high"}), "reasoning"),
        ] {
            let mut body = fields;
            body["input"] = json!("fox");
            let (status, answer) = ask(&server, "/v1/responses", &body);
            assert_eq!(
                (status, &answer["error"]["param"]),
                (400, &json!(param)),
                "{body}: {answer}"
            );
        }
        for fields in [
            json!({"text": {"verbosity": "medium", "format": null}, "reasoning": {"summary": "auto"}}),
            json!({"text": null, "reasoning": null, "instructions": "Be brief."}),
        ] {
            let mut body = fields;
            body["input"] = json!("fox");
            body["max_output_tokens"] = json!(1);
            let (status, answer) = ask(&server, "/v1/responses", &body);
            assert_eq!(status, 200, "{body}: {answer}");
        }
    });
}

#[test]
fn a_completion_has_no_special_tokens_if_none_are_asked_for() {
    watch(|| {
        let server = TestServer::start(&[]);
        let count = |fields: Value| {
            let mut body = fields;
            body["prompt"] = json!("Once upon a time");
            body["max_tokens"] = json!(1);
            let (status, answer) = ask(&server, COMPLETIONS, &body);
            assert_eq!(status, 200, "{answer}");
            answer["usage"]["prompt_tokens"].as_u64().unwrap()
        };
        let bare = ids_of_text(&server, "Once upon a time").as_array().unwrap().len() as u64;
        assert_eq!(count(json!({})), bare + 1);
        assert_eq!(count(json!({"add_special_tokens": true})), bare + 1);
        assert_eq!(count(json!({"add_special_tokens": null})), bare + 1);
        assert_eq!(count(json!({"add_special_tokens": false})), bare);
        assert_eq!(count(json!({"add_special_tokens": false, "parse_special": false})), bare);
    });
}

/// What other servers call a field, and each route's own name for it.
#[test]
fn a_field_of_another_server_is_refused_with_its_name_here() {
    watch(|| {
        let server = TestServer::start(&[]);
        let chat = || json!({"messages": [{"role": "user", "content": "x"}]});
        let sglang = || json!({"text": "x", "sampling_params": {}});
        for (path, body, field, value, here) in [
            (COMPLETIONS, json!({"prompt": "x"}), "n_predict", json!(3), "max_tokens"),
            (
                COMPLETIONS,
                json!({"prompt": "x"}),
                "max_completion_tokens",
                json!(3),
                "max_tokens",
            ),
            (COMPLETIONS, json!({"prompt": "x"}), "max_new_tokens", json!(3), "max_tokens"),
            (COMPLETIONS, json!({"prompt": "x"}), "stop_sequences", json!(["."]), "stop"),
            (COMPLETIONS, json!({"prompt": "x"}), "length_penalty", json!(2.0), "1"),
            (COMPLETIONS, json!({"prompt": "x"}), "documents", json!([{}]), "leave it out"),
            (CHAT, chat(), "n_predict", json!(3), "max_tokens"),
            (CHAT, chat(), "max_output_tokens", json!(3), "max_tokens"),
            (CHAT, chat(), "max_new_tokens", json!(3), "max_tokens"),
            (CHAT, chat(), "stop_sequences", json!(["."]), "stop"),
            (CHAT, chat(), "length_penalty", json!(2.0), "1"),
            (CHAT, chat(), "echo", json!(true), "false"),
            (CHAT, chat(), "best_of", json!(2), "1"),
            (CHAT, chat(), "think", json!(false), "enable_thinking"),
            (CHAT, chat(), "extra_body", json!({"top_k": 1}), "in the request itself"),
            (
                "/v1/responses",
                json!({"input": "x"}),
                "max_tokens",
                json!(3),
                "max_output_tokens",
            ),
            ("/v1/responses", json!({"input": "x"}), "n", json!(2), "1"),
            ("/generate", json!({"prompt": "x"}), "n", json!(2), "1"),
            ("/generate", json!({"prompt": "x"}), "max_new_tokens", json!(3), "max_tokens"),
            (
                "/generate",
                json!({"prompt": "x"}),
                "sampling_params",
                json!({"a": 1}),
                "itself",
            ),
            ("/generate", sglang(), "temperature", json!(0), "leave it out"),
            ("/generate", sglang(), "max_tokens", json!(3), "leave it out"),
            ("/candidates", json!({"prompt": "x"}), "repetition_penalty", json!(1.3), "1"),
        ] {
            let mut body = body;
            body[field] = value;
            let (status, answer) = ask(&server, path, &body);
            assert_eq!(status, 400, "{path} {body}: {answer}");
            assert_eq!(answer["error"]["param"], field, "{path} {body}: {answer}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains(here), "{path} {body}: {message}");
        }
        let nested = json!({"text": "x", "sampling_params": {"max_tokens": 3}});
        let (status, answer) = ask(&server, "/generate", &nested);
        let message = answer["error"]["message"].as_str().unwrap();
        assert_eq!(
            (status, &answer["error"]["param"]),
            (400, &json!("sampling_params.max_tokens"))
        );
        assert!(message.contains("`max_new_tokens`"), "{message}");
    });
}
