//! Requests for completions, and the texts of their answers.

use serde_json::{Value, json};

use super::http_client::{Connection, Head, events};

pub const COMPLETIONS: &str = "/v1/completions";

/// A request for as many tokens as the context holds, and several texts of it: far more than is
/// written before a test has done what it wants to do.
pub fn long(n: u64) -> Value {
    json!({
        "prompt": "Once upon a time", "n": n, "max_tokens": 500, "ignore_eos": true, "seed": 1,
        "stream": true,
    })
}

/// As [`long`], with so much about each token that the buffers of the system do not hold it.
pub fn large() -> Value {
    let mut request = long(64);
    request["logprobs"] = json!(5);
    request
}

/// Sends a request, and reads its stream until the first token is there.
pub fn begin(connection: &mut Connection, request: &Value) {
    connection.post(COMPLETIONS, &request.to_string()).unwrap();
    let head = connection.head().unwrap();
    assert_eq!(head.status, 200);
    assert!(connection.chunk().unwrap().unwrap().starts_with("data: {"));
}

/// The text of each choice, of a whole answer or of a stream.
pub fn read_texts(head: &Head, said: &str) -> Vec<String> {
    assert_eq!(head.status, 200, "{said}");
    if head.header("content-type") == Some("application/json") {
        return texts(&[serde_json::from_str(said).unwrap()]);
    }
    let mut events = events(said);
    assert_eq!(events.pop().unwrap(), "[DONE]");
    let parse = |event: &String| serde_json::from_str(event).unwrap();
    texts(&events.iter().map(parse).collect::<Vec<Value>>())
}

/// The text of each choice, of a whole completion or of the chunks of a stream.
pub fn texts<'a>(parts: impl IntoIterator<Item = &'a Value>) -> Vec<String> {
    let mut texts = Vec::new();
    for choice in
        parts.into_iter().flat_map(|part| part["choices"].as_array().into_iter().flatten())
    {
        let index = choice["index"].as_u64().unwrap() as usize;
        texts.resize(texts.len().max(index + 1), String::new());
        texts[index] += choice["text"].as_str().unwrap();
    }
    texts
}
