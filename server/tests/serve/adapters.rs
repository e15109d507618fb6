//! Adapters: a request names one as its model, and they come and go.

use serde_json::{Value, json};

use crate::common::completions::{COMPLETIONS, texts};
use crate::common::test_server::TestServer;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/adapters/ember");

fn start(flags: &[&str]) -> TestServer {
    let named = format!("tale={FOLDER}");
    TestServer::start(&[&["--device", "cpu", "--lora", &named], flags].concat())
}

fn ask(server: &TestServer, path: &str, body: &Value) -> (u16, Value) {
    let (status, body) = server.ask(path, &body.to_string());
    (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
}

fn story(server: &TestServer, model: Option<&str>) -> (u16, Value) {
    let request = json!({
        "model": model, "prompt": "Once upon a time", "max_tokens": 12, "temperature": 0,
    });
    ask(server, COMPLETIONS, &request)
}

fn models(server: &TestServer) -> Value {
    let mut connection = server.connect();
    connection.get("/v1/models").unwrap();
    serde_json::from_str(&connection.answer().unwrap().1).unwrap()
}

fn names(server: &TestServer) -> Vec<String> {
    let data = models(server)["data"].as_array().unwrap().clone();
    data.iter().map(|model| model["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_model_of_a_request_picks_an_adapter() {
    let server = start(&[]);
    assert_eq!(names(&server), ["ember", "tale"]);
    assert_eq!(models(&server)["data"][1]["parent"], "ember");
    let ((_, of_model), (status, of_adapter)) =
        (story(&server, None), story(&server, Some("tale")));
    assert_eq!((status, &of_adapter["model"]), (200, &json!("tale")), "{of_adapter}");
    assert_ne!(texts([&of_model]), texts([&of_adapter]));
    assert_eq!(texts([&story(&server, Some("ember")).1]), texts([&of_model]));
    for (path, body) in [
        (
            "/v1/chat/completions",
            json!({"messages": [{"role": "user", "content": "A frog."}]}),
        ),
        ("/v1/responses", json!({"input": "A frog."})),
    ] {
        let mut body = body;
        (body["model"], body["temperature"]) = (json!("tale"), json!(0));
        let (status, answer) = ask(&server, path, &body);
        assert_eq!((status, &answer["model"]), (200, &json!("tale")), "{path}: {answer}");
    }
    let (status, error) = story(&server, Some("saga"));
    assert_eq!(status, 404);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("\"ember\", \"tale\""), "{message}");
    let (status, error) = ask(&server, "/v1/embeddings", &json!({"model": "tale", "input": "a"}));
    assert_eq!((status, &error["error"]["param"]), (400, &json!("model")));
}

#[test]
fn adapters_come_and_go_where_that_is_allowed() {
    let (load, unload) = ("/v1/load_lora_adapter", "/v1/unload_lora_adapter");
    let closed = start(&[]);
    let saga = json!({"lora_name": "saga", "lora_path": FOLDER});
    for path in [load, unload] {
        let (status, error) = ask(&closed, path, &saga);
        assert_eq!(status, 403);
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains("--allow-lora-updates"), "{message}");
    }
    let server = start(&["--allow-lora-updates"]);
    assert_eq!(ask(&server, load, &saga).0, 200);
    assert_eq!(names(&server), ["ember", "saga", "tale"]);
    let [one, other] = ["saga", "tale"].map(|name| texts([&story(&server, Some(name)).1]));
    assert_eq!(one, other);
    for wrong in [
        saga.clone(),
        json!({"lora_name": "ember", "lora_path": FOLDER, "load_inplace": true}),
        json!({"lora_name": "", "lora_path": FOLDER}),
        json!({"lora_name": "none", "lora_path": "/nowhere"}),
        json!({"lora_name": "none"}),
    ] {
        assert_eq!(ask(&server, load, &wrong).0, 400, "{wrong}");
    }
    let again = json!({"lora_name": "saga", "lora_path": FOLDER, "load_inplace": true});
    assert_eq!(ask(&server, load, &again).0, 200);
    let (status, said) = ask(&server, unload, &json!({"lora_name": "saga"}));
    assert_eq!(status, 200, "{said}");
    assert_eq!(ask(&server, unload, &json!({"lora_name": "saga"})).0, 404);
    assert_eq!(story(&server, Some("saga")).0, 404);
    assert_eq!(names(&server), ["ember", "tale"]);
}
