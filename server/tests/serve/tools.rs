//! Calls of tools: the same on both routes that have them, whole and streamed, and fields that say what an
//! answer must look like on `/generate`.

use serde_json::{Value, json};

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
