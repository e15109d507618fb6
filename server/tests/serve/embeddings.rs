//! Vectors of texts: pooled as the model's files say, unless a request says otherwise.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::test_server::TestServer;
use crate::common::watchdog::watch;

/// A model folder that asks for the last token's hidden state.
fn folder() -> tempfile::TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/models/llama-gqa");
    let copy = tempfile::tempdir().unwrap();
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::write(copy.path().join(name), std::fs::read(source.join(name)).unwrap()).unwrap();
    }
    std::fs::create_dir(copy.path().join("1_Pooling")).unwrap();
    let last = json!({"pooling_mode_lasttoken": true}).to_string();
    std::fs::write(copy.path().join("1_Pooling/config.json"), last).unwrap();
    copy
}

fn vector(server: &TestServer, pooling: Option<&str>) -> Value {
    let mut body = json!({"input": [5, 6, 7, 8]});
    if let Some(pooling) = pooling {
        body["pooling"] = pooling.into();
    }
    let (status, answer) = server.ask("/v1/embeddings", &body.to_string());
    assert_eq!(status, 200, "{answer}");
    serde_json::from_str::<Value>(&answer).unwrap()["data"][0]["embedding"].clone()
}

#[test]
fn a_text_is_pooled_as_the_files_of_the_model_say() {
    watch(|| {
        let folder = folder();
        let server = TestServer::start(&["--model", folder.path().to_str().unwrap()]);
        let of_file = vector(&server, None);
        assert_eq!(of_file, vector(&server, Some("last")));
        assert_ne!(of_file, vector(&server, Some("mean")));

        let server = TestServer::start(&[]);
        assert_eq!(vector(&server, None), vector(&server, Some("mean")));
    });
}
