//! Models come from a hub into the cache: whole, once, and with an error that says what to do.
//!
//! The hub is a server in this process that answers as Hugging Face's does, and fails on
//! demand. `cargo test --features hub` builds the example that the last test runs.

#[path = "../common/mod.rs"]
mod common;
mod server;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use server::{Request, Server, etag, part_of_weights, tiny};
use slowburn::hub::Error;
use slowburn::hub::{Hub, HubModel};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const NAME: &str = "org/tiny";

fn hub(server: &Server, cache: &Path) -> Hub {
    Hub {
        endpoint: server.address.clone(),
        cache: cache.to_owned(),
        token: None,
        offline: false,
        patience: Duration::from_secs(20),
    }
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
    let hub = hub(&server, cache.path());
    let folder = hub.fetch(&model(NAME)).unwrap();
    assert_same_files(&folder, &tiny());
    assert_eq!(server.requests().len(), 4);

    // The layout is that of Hugging Face's own library.
    let in_cache = cache.path().join("models--org--tiny");
    assert_eq!(folder, in_cache.join("snapshots").join(COMMIT));
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
fn a_cut_connection_is_gone_on_with() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let size = tiny()["model.safetensors"].len();
    let piece = size / 3 + 1;
    server.state().cut_after = Some(piece);
    let folder = hub(&server, cache.path()).fetch(&model(NAME)).unwrap();
    assert_same_files(&folder, &tiny());
    let weights: Vec<_> =
        server.requests().into_iter().filter(|r| r.file == "model.safetensors").collect();
    let from: Vec<_> = weights.iter().map(|request| request.from).collect();
    assert_eq!(from, [0, piece, 2 * piece]);
}

/// A server that sends the first half whatever it is asked for: what comes never gets whole.
#[test]
fn the_same_half_for_ever_is_given_up() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let half = tiny()["model.safetensors"].len() / 2 - 10;
    server.state().ignores_ranges = true;
    server.state().cut_after = Some(half);
    let error = hub(&server, cache.path()).fetch(&model(NAME)).unwrap_err();
    assert!(matches!(&error, Error::Download { file, .. } if file == "model.safetensors"));
    let requests = server.requests();
    let asked = requests.iter().filter(|request| request.file == "model.safetensors").count();
    assert!((3..=10).contains(&asked), "{asked}");
}

/// What is more than was announced is neither written nor waited for.
#[test]
fn a_body_beyond_its_size_is_cut_off() {
    const SURPLUS: usize = 256 << 20;
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    server.state().surplus = SURPLUS;
    let error = hub(&server, cache.path()).fetch(&model(NAME)).unwrap_err();
    assert!(error.to_string().contains("more came than the"), "{error}");
    // As much as the system holds of a connection may be on its way.
    let sent = server.state().surplus_sent;
    assert!(sent < SURPLUS, "{sent} bytes too many, several times over");
    let blobs = cache.path().join("models--org--tiny/blobs");
    assert!(!blobs.join(part_of_weights()).exists());

    server.state().surplus = 0;
    assert_same_files(&hub(&server, cache.path()).fetch(&model(NAME)).unwrap(), &tiny());
}

#[test]
fn the_next_run_goes_on_where_the_last_one_stopped() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let hub = hub(&server, cache.path());
    let first = tiny()["model.safetensors"][..1000].to_vec();
    let blobs = cache.path().join("models--org--tiny/blobs");
    std::fs::create_dir_all(&blobs).unwrap();
    std::fs::write(blobs.join(part_of_weights()), first).unwrap();

    server.state().cut_after = Some(0);
    let error = hub.fetch(&model(NAME)).unwrap_err();
    assert!(matches!(&error, Error::Download { file, .. } if file == "model.safetensors"));
    assert!(error.to_string().contains("it goes on where it stopped"), "{error}");
    assert!(server.requests().iter().any(|request| request.from == 1000));

    server.state().cut_after = None;
    assert_same_files(&hub.fetch(&model(NAME)).unwrap(), &tiny());
    // What was whole stays as it is.
    let request = Request {
        file: "model.safetensors".to_owned(),
        from: 1000,
        authorized: false,
    };
    assert_eq!(server.requests(), [request]);
}

/// A part that is as long as the file, and a server that sends from the start what was to be
/// gone on with: in both cases what is there cannot be told from damage, and is fetched again.
#[test]
fn bytes_that_do_not_fit_are_thrown_away() {
    let size = tiny()["model.safetensors"].len();
    for (length, ignores_ranges) in [(size, false), (size + 5, false), (1000, true)] {
        let cache = tempfile::tempdir().unwrap();
        let server = Server::start(tiny());
        server.state().ignores_ranges = ignores_ranges;
        let blobs = cache.path().join("models--org--tiny/blobs");
        std::fs::create_dir_all(&blobs).unwrap();
        std::fs::write(blobs.join(part_of_weights()), vec![7; length]).unwrap();
        let folder = hub(&server, cache.path()).fetch(&model(NAME)).unwrap();
        assert_same_files(&folder, &tiny());
    }
}

/// What is as long as it should be may still be something else.
#[test]
fn weights_that_are_damaged_are_removed() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let hub = hub(&server, cache.path());
    let blobs = cache.path().join("models--org--tiny/blobs");
    let refuse = || {
        let error = hub.fetch(&model(NAME)).unwrap_err();
        let Error::Damaged { file, found, expected, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(file, "model.safetensors");
        assert_eq!(*expected, etag(file, &tiny()[file]));
        assert_ne!(found, expected);
        let link = cache.path().join("models--org--tiny/snapshots").join(COMMIT).join(file);
        assert!(link.symlink_metadata().is_err() && !blobs.join(expected).exists());
    };
    server.state().damages = true;
    refuse();
    server.state().damages = false;
    // What was there of it before may be what is damaged.
    std::fs::write(blobs.join(part_of_weights()), vec![7; 1000]).unwrap();
    refuse();
    assert_same_files(&hub.fetch(&model(NAME)).unwrap(), &tiny());
}

#[test]
fn a_download_that_stalls_ends_and_is_gone_on_with_later() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let hub = Hub {
        patience: Duration::from_secs(2),
        ..hub(&server, cache.path())
    };
    server.state().stall_after = Some(1000);
    let error = hub.fetch(&model(NAME)).unwrap_err();
    assert!(
        matches!(&error, Error::Stalled { file, seconds: 2.0, .. } if file == "model.safetensors"),
        "{error:?}"
    );
    assert!(error.to_string().contains("it goes on where it stopped"), "{error}");
    server.requests();

    server.state().stall_after = None;
    assert_same_files(&hub.fetch(&model(NAME)).unwrap(), &tiny());
    let from: Vec<_> = server.requests().iter().map(|request| request.from).collect();
    assert_eq!(from, [1000]);
}

fn shards(index: serde_json::Value) -> BTreeMap<String, Vec<u8>> {
    let mut files = tiny();
    files.remove("model.safetensors");
    files.insert("model.safetensors.index.json".to_owned(), index.to_string().into_bytes());
    files.insert("a-1.safetensors".to_owned(), vec![1; 5000]);
    files.insert("a-2.safetensors".to_owned(), vec![2; 100]);
    files
}

#[test]
fn every_shard_of_the_index_is_fetched() {
    let cache = tempfile::tempdir().unwrap();
    let map = json!({"x": "a-1.safetensors", "y": "a-2.safetensors", "z": "a-1.safetensors"});
    let files = shards(json!({"metadata": {}, "weight_map": map}));
    let server = Server::start(files.clone());
    let hub = hub(&server, cache.path());
    let folder = hub.fetch(&model(NAME)).unwrap();
    assert_same_files(&folder, &files);
    server.requests();
    // One that is missing makes the cache incomplete.
    std::fs::remove_file(folder.join("a-2.safetensors")).unwrap();
    hub.fetch(&model(NAME)).unwrap();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_index_that_leaves_the_folder_is_refused() {
    for (index, message) in [
        (json!({"weight_map": {"x": "../a-1.safetensors"}}), "in the same folder"),
        (json!({"weight_map": {"x": "/etc/passwd"}}), "in the same folder"),
        (json!({"weight_map": {"x": "..\\a"}}), "in the same folder"),
        (json!({"weight_map": 3}), "not the JSON"),
        (json!({"weight_map": {"x": "a-3.safetensors"}}), "a-3.safetensors"),
    ] {
        let cache = tempfile::tempdir().unwrap();
        let server = Server::start(shards(index));
        let error = hub(&server, cache.path()).fetch(&model(NAME)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn what_does_not_exist_or_is_not_for_everyone_is_named() {
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(tiny());
    let mut hub = hub(&server, cache.path());
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

/// Of a repository of GGUF files, the one that is named is fetched, and nothing else.
#[test]
fn one_file_is_fetched_alone() {
    let (one, other) = ("tiny-Q4_K_M.gguf", "more/tiny.F16.GGUF");
    let files: BTreeMap<String, Vec<u8>> = [(one, 5000), (other, 100), ("README.md", 9)]
        .map(|(name, length)| (name.to_owned(), vec![7; length]))
        .into();
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(files);
    let hub = hub(&server, cache.path());
    let snapshot = cache.path().join("models--org--tiny/snapshots").join(COMMIT);
    for (name, length) in [(one, 5000), (other, 100)] {
        let path = hub.fetch(&model(&format!("{NAME}/{name}"))).unwrap();
        assert_eq!(path, snapshot.join(name));
        assert_eq!(std::fs::read(&path).unwrap(), vec![7; length]);
        assert_eq!(server.requests().len(), 1);
        // It is in the cache then, under each of its names.
        for revision in ["", "@main", &format!("@{COMMIT}")] {
            assert_eq!(hub.fetch(&model(&format!("{NAME}/{name}{revision}"))).unwrap(), path);
        }
        assert_eq!(server.requests(), []);
    }
    let error = hub.fetch(&model(&format!("{NAME}/none.gguf"))).unwrap_err();
    assert!(matches!(error, Error::NoFile { .. }), "{error:?}");
    let place = format!("see {}/org/tiny/tree/main for those", server.address);
    for part in ["`org/tiny` has no file \"none.gguf\"", &place] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let offline = Hub { offline: true, ..hub.clone() };
    assert!(offline.fetch(&model(&format!("{NAME}/{one}"))).is_ok());
    let error = offline.fetch(&model(&format!("{NAME}/none.gguf"))).unwrap_err();
    assert!(matches!(error, Error::Offline { .. }), "{error:?}");
    // A file is not the whole model.
    assert!(matches!(offline.fetch(&model(NAME)), Err(Error::Offline { .. })));
    let error = hub.fetch(&model(NAME)).unwrap_err();
    assert!(
        matches!(&error, Error::NoFile { file, .. } if file == "config.json"),
        "{error:?}"
    );
}

/// Of a model that was split into several files, all are fetched, whichever is named. One that is not
/// there is noticed before any is fetched.
#[test]
fn all_parts_of_a_split_file_are_fetched() {
    let part = |i: usize| format!("more/tiny-{i:05}-of-00003.gguf");
    let all: BTreeMap<String, Vec<u8>> = (1..=3).map(|i| (part(i), vec![i as u8; 100])).collect();
    let server = Server::start(all.clone());
    for named in 1..=3 {
        let cache = tempfile::tempdir().unwrap();
        let hub = hub(&server, cache.path());
        let model = model(&format!("{NAME}/{}", part(named)));
        let path = hub.fetch(&model).unwrap();
        let snapshot = cache.path().join("models--org--tiny/snapshots").join(COMMIT);
        assert_eq!(path, snapshot.join(part(named)));
        for (name, bytes) in &all {
            assert_eq!(std::fs::read(snapshot.join(name)).unwrap(), *bytes, "{name}");
        }
        assert_eq!(server.requests().len(), 3);
        assert_eq!(hub.fetch(&model).unwrap(), path);
        assert_eq!(server.requests(), []);

        // In the cache, a part that is missing is missed.
        std::fs::remove_file(snapshot.join(part(2))).unwrap();
        let offline = Hub { offline: true, ..hub.clone() };
        assert!(matches!(offline.fetch(&model), Err(Error::Offline { .. })));
        assert_eq!(hub.fetch(&model).unwrap(), path);
        assert_eq!(server.requests().len(), 1);
    }

    server.state().files.remove(&part(3));
    let cache = tempfile::tempdir().unwrap();
    let error = hub(&server, cache.path()).fetch(&model(&format!("{NAME}/{}", part(1))));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("has no file \"more/tiny-00003-of-00003.gguf\""), "{error}");
    assert_eq!(server.requests(), []);
}

#[test]
fn a_hub_out_of_reach_is_named() {
    let cache = tempfile::tempdir().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let offline = Hub {
        endpoint: format!("http://{nobody}"),
        cache: cache.path().to_owned(),
        token: None,
        offline: false,
        patience: Duration::from_secs(20),
    };
    let error = offline.fetch(&model(NAME)).unwrap_err();
    assert!(matches!(error, Error::Offline { .. }), "{error:?}");
    for part in [offline.endpoint.as_str(), NAME, "connect to the network"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let by_wish = Hub { offline: true, ..offline.clone() };
    let error = by_wish.fetch(&model(NAME)).unwrap_err();
    assert!(error.to_string().contains("HF_HUB_OFFLINE"), "{error}");

    // Another program may have left less than all, but all that is needed.
    let folder = hub(&Server::start(tiny()), cache.path()).fetch(&model(NAME)).unwrap();
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
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let example = profile.join(format!("examples/05_kv_cache{}", std::env::consts::EXE_SUFFIX));
    assert!(example.exists(), "not built: cargo build --features hub --examples");
    let run = |model: &str, endpoint: &str, token: &str| {
        let mut command = Command::new(&example);
        command.args(["--max-tokens", "3", "--json", "--model", model]).stdin(Stdio::null());
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
