//! Models come from a hub into the cache: whole, once, and with an error that says what to do.
//!
//! The hub is a server in this process that answers as Hugging Face's does, and fails on
//! demand. `cargo test --features hub` builds the example that the last test runs.

#[path = "../common/mod.rs"]
mod common;
mod files;
mod interrupted;
mod server;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::program::example;
use serde_json::json;
use server::{Server, tiny};
use slowburn::hub::{Error, Hub, HubModel};
use tempfile::TempDir;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const NAME: &str = "org/tiny";

fn hub(endpoint: &str, cache: &TempDir) -> Hub {
    Hub {
        endpoint: endpoint.to_owned(),
        cache: cache.path().to_owned(),
        token: None,
        offline: false,
        into_memory: false,
        patience: Duration::from_secs(20),
    }
}

/// Where the files of the model are in the cache, by their contents.
fn blobs(cache: &TempDir) -> PathBuf {
    cache.path().join("models--org--tiny/blobs")
}

/// Where they are by their names.
fn snapshot(cache: &TempDir) -> PathBuf {
    cache.path().join("models--org--tiny/snapshots").join(COMMIT)
}

fn model(name: &str) -> HubModel {
    name.parse().unwrap()
}

#[track_caller]
fn assert_same_files(folder: &Path, files: &BTreeMap<String, Vec<u8>>) {
    for (name, bytes) in files.iter().filter(|(name, _)| *name != "README.md") {
        assert!(std::fs::read(folder.join(name)).unwrap() == *bytes, "{name} is different");
    }
    assert!(!folder.join("README.md").exists());
}

#[test]
fn a_model_is_fetched_once() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let hub = hub(&server.address, &cache);
    let folder = hub.fetch(&model(NAME)).unwrap();
    assert_same_files(&folder, &tiny());
    assert_eq!(server.requests().len(), 4);

    // The layout is that of Hugging Face's own library.
    let in_cache = cache.path().join("models--org--tiny");
    assert_eq!(folder, snapshot(&cache));
    assert_eq!(std::fs::read_to_string(in_cache.join("refs/main")).unwrap(), COMMIT);
    assert!(in_cache.join(".no_exist").join(COMMIT).join("chat_template.jinja").exists());

    assert_eq!(hub.fetch(&model(NAME)).unwrap(), folder);
    assert_eq!(hub.fetch(&model(&format!("{NAME}@{COMMIT}"))).unwrap(), folder);
    let offline = Hub { offline: true, ..hub.clone() };
    assert_eq!(offline.fetch(&model(NAME)).unwrap(), folder);
    assert_eq!(server.requests(), []);

    // Another name for the same commit: nothing is fetched again.
    assert_eq!(hub.fetch(&model("org/tiny@refs/pr/1")).unwrap(), folder);
    assert_eq!(server.requests(), []);
    assert_eq!(std::fs::read_to_string(in_cache.join("refs/refs/pr/1")).unwrap(), COMMIT);
}

#[test]
fn what_does_not_exist_or_is_not_for_everyone_is_named() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let mut hub = hub(&server.address, &cache);
    for name in ["org/other", "other/tiny", "tiny", "org/tiny@v2"] {
        let error = hub.fetch(&model(name)).unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
        assert!(error.to_string().contains(name), "{error}");
    }
    server.state().status = Some(401);
    assert!(matches!(hub.fetch(&model(NAME)), Err(Error::NotFound { .. })));
    server.state().status = Some(403);
    assert!(matches!(hub.fetch(&model(NAME)), Err(Error::Gated { .. })));
    server.state().status = Some(500);
    let error = hub.fetch(&model(NAME)).unwrap_err();
    assert!(error.to_string().contains("status 500"), "{error}");

    server.state().status = None;
    server.state().gated = true;
    let error = hub.fetch(&model("org/tiny@refs/pr/1")).unwrap_err();
    assert!(matches!(error, Error::Gated { .. }), "{error:?}");
    let place = format!("{}/org/tiny, then set HF_TOKEN", server.address);
    assert!(error.to_string().contains(&place), "{error}");
    hub.token = Some("secret".to_owned());
    assert_same_files(&hub.fetch(&model(NAME)).unwrap(), &tiny());
    assert!(server.requests().iter().all(|request| request.authorized));
}

#[test]
fn a_hub_out_of_reach_is_named() {
    let cache = tempfile::tempdir().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let offline = hub(&format!("http://{nobody}"), &cache);
    let error = offline.fetch(&model(NAME)).unwrap_err();
    assert!(matches!(error, Error::Offline { .. }), "{error:?}");
    for part in [offline.endpoint.as_str(), NAME, "connect to the network"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let by_wish = Hub { offline: true, ..offline.clone() };
    let error = by_wish.fetch(&model(NAME)).unwrap_err();
    assert!(error.to_string().contains("HF_HUB_OFFLINE"), "{error}");

    // Another program may have left less than all, but all that is needed.
    let folder = hub(&Server::start(tiny()).address, &cache).fetch(&model(NAME)).unwrap();
    std::fs::remove_dir_all(cache.path().join("models--org--tiny/.no_exist")).unwrap();
    assert_eq!(offline.fetch(&model(NAME)).unwrap(), folder);
    std::fs::remove_file(folder.join("tokenizer.json")).unwrap();
    assert!(matches!(offline.fetch(&model(NAME)), Err(Error::Offline { .. })));
}

#[test]
fn names_that_cannot_be_are_refused() {
    for name in [
        "",
        "/",
        "a/",
        "/a",
        "a/b/c",
        "a/b/c/d",
        "a/b/../c.gguf",
        "a/b/.gguf",
        "a/b//c.gguf",
        "../b",
        "a/..",
        "a b/c",
        "a/b@",
        "a/b@../c",
        "a/b@c/../d",
        "a/b@/c",
        "a\\b",
        "a/b?c",
        "a/b:",
        "a/b:c/d",
        "a:Q8_0",
        "a/b/c.gguf:Q8_0",
        "a/b@c%2Fd",
        ".a/b",
    ] {
        let error = name.parse::<HubModel>().unwrap_err();
        assert!(error.to_string().contains("org/name@revision"), "{name}: {error}");
    }
    let model = model("a-1/b_2.c@refs/pr/3");
    assert_eq!((model.name.as_str(), model.revision.as_str()), ("a-1/b_2.c", "refs/pr/3"));
    assert_eq!(model.file, None);
    let model: HubModel = "a/b/c/d.gguf@v1".parse().unwrap();
    assert_eq!((model.name.as_str(), model.file.as_deref()), ("a/b", Some("c/d.gguf")));
    assert_eq!((model.revision.as_str(), model.to_string().as_str()), ("v1", "a/b@v1"));
}

/// The example, told by the environment where the hub and the cache are.
#[test]
fn an_example_writes_with_a_model_from_the_hub() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let run = |model: &str, endpoint: &str, token: &str| {
        let mut command = example("05_kv_cache");
        command.args(["--max-tokens", "3", "--json", "--model", model]);
        for name in [
            "HF_HUB_CACHE",
            "HF_HUB_OFFLINE",
            "HF_HUB_DOWNLOAD_TIMEOUT",
            "http_proxy",
            "HTTP_PROXY",
        ] {
            command.env_remove(name);
        }
        command.env("HF_HOME", home.path()).env("HF_ENDPOINT", endpoint).env("HF_TOKEN", token);
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, stdout, stderr) = run("hf:org/tiny", &server.address, "");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("{\"prompt_ids\":"), "{stdout}");
    assert!(home.path().join("hub/models--org--tiny/refs/main").exists());

    // Nobody listens there: the cache is enough, but only for what is in it.
    let (code, again, _) = run("hf:org/tiny", "http://127.0.0.1:9", "");
    assert_eq!(code, Some(0));
    let ids = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap()["ids"].clone();
    assert_eq!(ids(&again), ids(&stdout));
    let (code, _, stderr) = run("hf:org/other", "http://127.0.0.1:9", "");
    assert_eq!(code, Some(1));
    assert!(stderr.starts_with("error: cannot reach http://127.0.0.1:9"), "{stderr}");
    let (code, _, stderr) = run("hf:org", &server.address, "");
    assert_eq!((code, stderr.lines().count()), (Some(1), 1), "{stderr}");
    let (code, ..) = run("hf:a/b/c", &server.address, "");
    assert_eq!(code, Some(2));

    // A token that was read from a file may have its line break.
    server.state().gated = true;
    let snapshot = home.path().join("hub/models--org--tiny/snapshots").join(COMMIT);
    std::fs::remove_file(snapshot.join("config.json")).unwrap();
    let (code, _, stderr) = run("hf:org/tiny", &server.address, "");
    assert_eq!(code, Some(1), "{stderr}");
    let (code, _, stderr) = run("hf:org/tiny", &server.address, "secret\n");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}
