//! Calls of tools: the same on both routes that have them, whole and streamed, and fields that say what an
//! answer must look like on `/generate`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::http_client::events;
use crate::common::test_server::TestServer;
use crate::common::watchdog::watch;

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "animal": {"enum": ["cat", "dog", "fox"]},
            "spoons": {"type": "integer", "minimum": 1, "maximum": 5},
        },
        "required": ["animal", "spoons"],
        "additionalProperties": false,
    })
}

fn ask(server: &TestServer, path: &str, body: &Value) -> Value {
    let (status, answer) = server.ask(path, &body.to_string());
    assert_eq!(status, 200, "{body}: {answer}");
    serde_json::from_str(&answer).unwrap()
}

fn of_response(seed: u64) -> Value {
    json!({
        "input": "Feed the fox.", "seed": seed, "max_output_tokens": 80, "tool_choice": "required",
        "tools": [{"type": "function", "name": "feed", "parameters": parameters()}],
    })
}

#[test]
fn a_response_has_the_call_of_a_chat_and_its_events_are_the_call() {
    watch(|| {
        let server = TestServer::start(&[]);
        for seed in 0..3 {
            let chat = json!({
                "messages": [{"role": "user", "content": "Feed the fox."}], "seed": seed, "max_tokens": 80,
                "tool_choice": {"type": "function", "function": {"name": "feed"}},
                "tools": [{"type": "function", "function": {"name": "feed", "parameters": parameters()}}],
            });
            let expected = &ask(&server, CHAT, &chat)["choices"][0]["message"]["tool_calls"][0];
            let mut request = of_response(seed);
            let whole = ask(&server, RESPONSES, &request);
            let call = &whole["output"][0];
            assert_eq!(whole["output"].as_array().unwrap().len(), 1);
            assert_eq!(call["name"], "feed");
            assert_eq!(call["arguments"], expected["function"]["arguments"]);
            let arguments: Value =
                serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            assert!((1..=5).contains(&arguments["spoons"].as_u64().unwrap()), "{arguments}");

            request["stream"] = json!(true);
            let (_, stream) = server.ask(RESPONSES, &request.to_string());
            let events: Vec<Value> =
                events(&stream).iter().map(|event| serde_json::from_str(event).unwrap()).collect();
            let deltas = events.iter().filter_map(|event| match event["type"].as_str() {
                Some("response.function_call_arguments.delta") => event["delta"].as_str(),
                _ => None,
            });
            assert_eq!(deltas.collect::<String>(), call["arguments"].as_str().unwrap());
            let last = &events.last().unwrap()["response"];
            assert_eq!(last["status"], "completed");
            assert_eq!(last["output"][0]["arguments"], call["arguments"]);
        }
    });
}

#[test]
fn a_call_and_its_output_are_read_as_those_of_a_chat() {
    watch(|| {
        let server = TestServer::start(&[]);
        let arguments = r#"{"animal":"fox","spoons":2}"#;
        let response = json!({
            "input": [
                {"role": "user", "content": "Feed the fox."},
                {"type": "function_call", "call_id": "c1", "name": "feed", "arguments": arguments},
                {"type": "function_call_output", "call_id": "c1", "output": "It ate."},
            ],
            "temperature": 0, "max_output_tokens": 8,
        });
        let call = json!({"id": "c1", "type": "function", "function": {"name": "feed", "arguments": arguments}});
        let chat = json!({
            "messages": [
                {"role": "user", "content": "Feed the fox."},
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "It ate."},
            ],
            "temperature": 0, "max_tokens": 8,
        });
        let (response, chat) = (ask(&server, RESPONSES, &response), ask(&server, CHAT, &chat));
        assert_eq!(
            response["output"][0]["content"][0]["text"],
            chat["choices"][0]["message"]["content"]
        );
        assert_eq!(response["usage"]["input_tokens"], chat["usage"]["prompt_tokens"]);
    });
}

/// The bundled model, whose last tokens are these, with a template of its own. Marks are special tokens.
fn with_tokens(template: &str, tokens: &[&str]) -> (TestServer, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let ember = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/ember");
    for name in ["config.json", "model.safetensors"] {
        fs::copy(ember.join(name), folder.path().join(name)).unwrap();
    }
    let tokenizer = fs::read(ember.join("tokenizer.json")).unwrap();
    let mut tokenizer: Value = serde_json::from_slice(&tokenizer).unwrap();
    tokenizer["model"]["merges"].as_array_mut().unwrap().truncate(1700);
    for (id, content) in (2048 - tokens.len()..).zip(tokens) {
        let vocab = tokenizer["model"]["vocab"].as_object_mut().unwrap();
        vocab.retain(|_, of| *of != id);
        vocab.insert((*content).to_owned(), json!(id));
        tokenizer["added_tokens"].as_array_mut().unwrap().push(json!({
            "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": content.starts_with(['<', '[']),
        }));
    }
    fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    fs::write(folder.path().join("chat_template.jinja"), template).unwrap();
    let server = TestServer::start(&["--model", folder.path().to_str().unwrap()]);
    (server, folder)
}

const TOOL_CALLS: u32 = 2046;

/// A template that only speaks of how calls are written, in a branch that no conversation here comes to.
fn speaks_of(calls: &str) -> String {
    let messages = "{% for m in messages %}{{ m.content }}{% endfor %}";
    format!("{messages}{{% if false %}}{calls}{{% endif %}}")
}

const DEEPSEEK: [&str; 5] = [
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
];
const KIMI: [&str; 5] = [
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
];
const HARMONY: [&str; 10] = [
    "<|start|>",
    "<|channel|>",
    "<|message|>",
    "<|constrain|>",
    "<|end|>",
    "<|call|>",
    "<|return|>",
    "assistant",
    "analysis",
    "final",
];

/// Every published form, whether its marks are special tokens or text: the call is the same, whole and in pieces.
#[test]
fn a_model_calls_tools_in_its_own_form() {
    watch(|| {
        let deepseek = DEEPSEEK.join("");
        for (says, tokens) in [
            ("<tool_call>", &[][..]),
            ("\"parameters\": dictionary", &["<|python_tag|>"]),
            ("[TOOL_CALLS][", &["[TOOL_CALLS]"]),
            (&*deepseek, &DEEPSEEK),
            (&format!("{deepseek}```json"), &DEEPSEEK),
            (&deepseek, &[]),
            ("", &KIMI),
            (&KIMI.join(""), &[]),
            ("<tool_call><arg_key></arg_key>\n<arg_value>", &[]),
            ("<tool_call><arg_key></arg_key><arg_value>", &["<arg_key>", "</arg_key>"]),
            ("<tool_call><function=><parameter=>", &[]),
            ("<|channel|>functions.", &HARMONY),
        ] {
            let (server, _folder) = with_tokens(&speaks_of(says), tokens);
            for seed in 0..2 {
                let mut body = json!({
                    "messages": [{"role": "user", "content": "Feed the fox."}], "seed": seed, "max_tokens": 400,
                    "tool_choice": "required", "parallel_tool_calls": false,
                    "tools": [{"type": "function", "function": {"name": "feed", "parameters": parameters()}}],
                });
                let choice = &ask(&server, CHAT, &body)["choices"][0];
                assert_eq!(choice["finish_reason"], "tool_calls", "{says}: {choice}");
                assert_eq!(choice["message"]["content"], Value::Null, "{says}: {choice}");
                let call = &choice["message"]["tool_calls"][0];
                let function = &call["function"];
                assert_eq!(function["name"], "feed", "{says}: {choice}");
                let arguments = function["arguments"].as_str().unwrap();
                let arguments: Value = serde_json::from_str(arguments).unwrap();
                assert!((1..=5).contains(&arguments["spoons"].as_u64().unwrap()), "{arguments}");
                assert!(["cat", "dog", "fox"].map(Value::from).contains(&arguments["animal"]));
                let is_named = call["id"].as_str().unwrap().starts_with("functions.feed:");
                assert_eq!(is_named, says == KIMI.join("") || tokens == KIMI, "{call}");

                body["stream"] = json!(true);
                let (_, stream) = server.ask(CHAT, &body.to_string());
                let events = events(&stream);
                let chunks = events.iter().filter(|event| **event != "[DONE]");
                let chunks: Vec<Value> =
                    chunks.map(|event| serde_json::from_str(event).unwrap()).collect();
                let deltas: Vec<&Value> = chunks
                    .iter()
                    .flat_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].as_array())
                    .flatten()
                    .collect();
                // The id and the name come first, and once.
                assert!(deltas[0]["id"].is_string() && deltas[0]["function"]["name"] == "feed");
                assert!(deltas[1..].iter().all(|delta| delta.get("id").is_none()));
                let pieces =
                    deltas.iter().map(|delta| delta["function"]["arguments"].as_str().unwrap());
                assert_eq!(json!(pieces.collect::<String>()), function["arguments"]);
            }
            // Where it need not, it answers.
            let free = json!({
                "messages": [{"role": "user", "content": "Once upon a time"}], "max_tokens": 8, "temperature": 0,
                "tools": [{"type": "function", "function": {"name": "feed", "parameters": parameters()}}],
            });
            let choice = &ask(&server, CHAT, &free)["choices"][0];
            assert_eq!(choice["message"].get("tool_calls"), None, "{says}: {choice}");
            // In Harmony, so few tokens may be no more than a header.
            let is_empty = choice["message"]["content"].as_str().unwrap().is_empty();
            assert!(!is_empty || tokens == HARMONY, "{says}: {choice}");
        }
    });
}

/// In Harmony the grammar begins with the header of the message behind the thought, and a form behind that header.
#[test]
fn a_message_to_a_function_comes_behind_a_thought() {
    watch(|| {
        let template = speaks_of("<|channel|>functions.") + "<|start|>assistant";
        let (server, _folder) = with_tokens(&template, &HARMONY);
        let tool =
            json!([{"type": "function", "function": {"name": "feed", "parameters": parameters()}}]);
        let thinks = 2048 - 2;
        for (fields, bias) in [
            (json!({"tools": tool, "tool_choice": "required"}), 100),
            (json!({"tools": tool, "tool_choice": "required"}), -100),
            (json!({"structured_outputs": {"choice": ["yes", "no"]}}), 100),
            (json!({"structured_outputs": {"choice": ["yes", "no"]}}), -100),
        ] {
            let mut body = json!({
                "messages": [{"role": "user", "content": "Once upon a time"}], "seed": 3, "max_tokens": 150,
                "max_reasoning_tokens": 3, "logit_bias": {thinks.to_string(): bias},
            });
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            let whole = ask(&server, CHAT, &body);
            let message = &whole["choices"][0]["message"];
            let thought = message["reasoning_content"].as_str();
            assert_eq!(thought.is_some_and(|text| !text.is_empty()), bias > 0, "{whole}");
            if fields.get("tools").is_some() {
                let function = &message["tool_calls"][0]["function"];
                assert_eq!(function["name"], "feed", "{whole}");
                let arguments = function["arguments"].as_str().unwrap();
                assert!(serde_json::from_str::<Value>(arguments).is_ok(), "{whole}");
            } else {
                assert!(["yes", "no"].map(Value::from).contains(&message["content"]), "{whole}");
            }
        }
    });
}

/// Where a model need not call a tool, its grammar has the special token that calls begin with.
#[test]
fn a_mistral_may_write_its_own_token_before_a_call_and_need_not() {
    watch(|| {
        for says in [
            "[TOOL_CALLS] [",
            "[TOOL_CALLS][",
            "[TOOL_CALLS] name [ARGS]",
        ] {
            let (server, _folder) = with_tokens(&speaks_of(says), &["[TOOL_CALLS]", "[ARGS]"]);
            let body = |bias: f64| {
                json!({
                    "messages": [{"role": "user", "content": "Once upon a time"}], "max_tokens": 80,
                    "tool_choice": "auto", "parallel_tool_calls": false, "temperature": 0,
                    "logit_bias": {TOOL_CALLS.to_string(): bias},
                    "tools": [{"type": "function", "function": {"name": "feed", "parameters": parameters()}}],
                })
            };
            let choice = &ask(&server, CHAT, &body(100.0))["choices"][0];
            assert_eq!(choice["finish_reason"], "tool_calls", "{says}: {choice}");
            let function = &choice["message"]["tool_calls"][0]["function"];
            assert_eq!(function["name"], "feed", "{says}: {choice}");
            let arguments = function["arguments"].as_str().unwrap();
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            assert!((1..=5).contains(&arguments["spoons"].as_u64().unwrap()), "{arguments}");

            let choice = &ask(&server, CHAT, &body(-100.0))["choices"][0];
            assert_eq!(choice["message"]["tool_calls"], Value::Null, "{says}: {choice}");
            assert!(choice["message"]["content"].as_str().unwrap().len() > 20, "{choice}");
        }
    });
}

#[test]
fn generate_takes_a_form_in_its_own_words_and_in_those_of_sglang() {
    watch(|| {
        let server = TestServer::start(&[]);
        let schema = parameters();
        for seed in 0..3 {
            let own = |form: Value| {
                let mut body = json!({"prompt": "Was it a fox?", "seed": seed, "max_tokens": 80});
                body.as_object_mut().unwrap().extend(form.as_object().unwrap().clone());
                ask(&server, "/generate", &body)["text"].as_str().unwrap().to_owned()
            };
            let sglang = |name: &str, value: Value| {
                let params = json!({"sampling_seed": seed, "max_new_tokens": 80, name: value});
                let body = json!({"text": "Was it a fox?", "sampling_params": params});
                ask(&server, "/generate", &body)["text"].as_str().unwrap().to_owned()
            };
            let word = own(json!({"guided_regex": " (yes|no)"}));
            assert!([" yes", " no"].contains(&word.as_str()), "{word}");
            assert_eq!(own(json!({"structured_outputs": {"regex": " (yes|no)"}})), word);
            assert_eq!(sglang("regex", json!(" (yes|no)")), word);
            let object = own(json!({"guided_json": schema}));
            let value: Value = serde_json::from_str(&object).unwrap();
            assert!((1..=5).contains(&value["spoons"].as_u64().unwrap()), "{object}");
            assert_eq!(sglang("json_schema", json!(schema.to_string())), object);
            assert!([" a", " b"].contains(&own(json!({"guided_choice": [" a", " b"]})).as_str()));
        }
        for (body, param) in [
            (json!({"prompt": "x", "guided_regex": "("}), "guided_regex"),
            (json!({"text": "x", "guided_regex": "a"}), "guided_regex"),
            (json!({"text": "x", "sampling_params": {"regex": "("}}), "sampling_params.regex"),
            (
                json!({"text": "x", "sampling_params": {"regex": "a", "json_schema": "{}"}}),
                "sampling_params.json_schema",
            ),
            (json!({"text": "x", "sampling_params": {"ebnf": "a"}}), "sampling_params.ebnf"),
        ] {
            let (status, answer) = server.ask("/generate", &body.to_string());
            assert_eq!(status, 400, "{body}: {answer}");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["error"]["param"], param, "{answer}");
        }
    });
}

/// Wherever other servers have it: no schema is there without an effect.
#[test]
fn the_schema_of_a_response_format_is_kept_or_refused() {
    watch(|| {
        let server = TestServer::start(&[]);
        let schema = parameters();
        let chat = |format: &Value| {
            json!({
                "messages": [{"role": "user", "content": "Once"}], "max_tokens": 200, "seed": 0,
                "response_format": format,
            })
        };
        let response = |format: &Value| json!({"input": "Once", "max_output_tokens": 200, "seed": 0, "text": {"format": format}});
        for format in [
            json!({"type": "json_object", "schema": schema}),
            json!({"type": "json_schema", "schema": schema}),
            json!({"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": schema}}),
        ] {
            let answer = ask(&server, CHAT, &chat(&format));
            let text = answer["choices"][0]["message"]["content"].as_str().unwrap();
            let value: Value = serde_json::from_str(text).unwrap();
            assert!((1..=5).contains(&value["spoons"].as_u64().unwrap()), "{format}: {text}");
        }
        for kind in ["json_object", "json_schema"] {
            let format = json!({"type": kind, "name": "x", "schema": schema});
            let answer = ask(&server, RESPONSES, &response(&format));
            let text = answer["output"][0]["content"][0]["text"].as_str().unwrap();
            let value: Value = serde_json::from_str(text).unwrap();
            assert!((1..=5).contains(&value["spoons"].as_u64().unwrap()), "{format}: {text}");
        }
        let in_named = json!({"type": "json_schema", "json_schema": schema});
        let twice =
            json!({"type": "json_schema", "json_schema": {"schema": schema}, "schema": schema});
        let named = json!({"type": "json_object", "json_schema": {"schema": schema}});
        for (path, body, param) in [
            (CHAT, chat(&in_named), "response_format.json_schema.type"),
            (CHAT, chat(&twice), "response_format.schema"),
            (CHAT, chat(&named), "response_format.json_schema"),
            (CHAT, chat(&json!({"type": "json_schema"})), "response_format.json_schema"),
            (CHAT, chat(&json!({"type": "text", "schema": schema})), "response_format.schema"),
            (RESPONSES, response(&in_named), "text.format.json_schema"),
            (
                RESPONSES,
                response(&json!({"type": "text", "schema": schema})),
                "text.format.schema",
            ),
        ] {
            let (status, answer) = server.ask(path, &body.to_string());
            assert_eq!(status, 400, "{body}: {answer}");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(answer["error"]["param"], param, "{answer}");
        }
    });
}

/// Large integers are kept, and a tool that cannot be used is named.
#[test]
fn a_tool_has_the_numbers_of_its_schema_or_is_refused_by_its_name() {
    watch(|| {
        let server = TestServer::start(&[]);
        let tool = |name: &str, id: Value| {
            json!({"type": "function", "function": {"name": name, "parameters": {
                "type": "object", "properties": {"id": id}, "required": ["id"],
                "additionalProperties": false,
            }}})
        };
        let body = |tools: Value| {
            json!({
                "messages": [{"role": "user", "content": "Once"}], "max_tokens": 200, "seed": 0,
                "tool_choice": "required", "tools": tools,
            })
        };
        let int64 = json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX});
        let large = json!({"enum": [1_234_567_890_123_456_789_u64]});
        for (name, id) in [("any", int64.clone()), ("one", large.clone())] {
            let answer = ask(&server, CHAT, &body(json!([tool(name, id)])));
            let call = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
            let arguments: Value =
                serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            // -0 is an integer, and a float to this reader.
            assert!(arguments["id"].is_i64() || arguments["id"] == 0.0, "{answer}");
            let is_other = name == "one" && arguments["id"] != 1_234_567_890_123_456_789_u64;
            assert!(!is_other, "{answer}");
        }
        let wrong = json!({"allOf": [int64, large]});
        let tools = json!([tool("any", int64), tool("broken", wrong)]);
        let (status, answer) = server.ask(CHAT, &body(tools).to_string());
        assert_eq!(status, 400, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["error"]["param"], "tools[1].function.parameters", "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("`broken`") && message.contains("#/properties/id"), "{message}");
    });
}
