//! Which files of a model are fetched.

use super::*;

/// By their names.
type Files = BTreeMap<String, Vec<u8>>;

fn shards(index: serde_json::Value) -> Files {
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
    let hub = hub(&server.address, &cache);
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
        let error = hub(&server.address, &cache).fetch(&model(NAME)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
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
    let hub = hub(&server.address, &cache);
    let snapshot = snapshot(&cache);
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
}

/// A format is enough, and without one the usual format is taken.
#[test]
fn a_file_is_found_by_its_format() {
    let names = [
        "tiny-Q8_0.gguf",
        "tiny-Q4_K_M.gguf",
        "mmproj-F16.gguf",
        "config.json",
    ];
    let files: BTreeMap<_, _> = names.map(|name| (name.to_owned(), vec![7; 100])).into();
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(files);
    let hub = hub(&server.address, &cache);
    let offline = Hub { offline: true, ..hub.clone() };
    let snapshot = snapshot(&cache);
    let q8 = model(&format!("{NAME}:q8_0@main"));
    assert_eq!(hub.fetch(&q8).unwrap(), snapshot.join("tiny-Q8_0.gguf"));
    // A cache has a file or has not; the hub may have a better one.
    assert_eq!(offline.fetch(&model(NAME)).unwrap(), snapshot.join("tiny-Q8_0.gguf"));
    assert_eq!(hub.fetch(&model(NAME)).unwrap(), snapshot.join("tiny-Q4_K_M.gguf"));
    assert_eq!(server.requests().len(), 2);
    for model in [&q8, &model(NAME)] {
        assert_eq!(offline.fetch(model).unwrap(), hub.fetch(model).unwrap());
    }
    assert_eq!(server.requests(), []);

    let error = hub.fetch(&model(&format!("{NAME}:Q5_K_M"))).unwrap_err().to_string();
    let message = "`org/tiny` has no GGUF file in \"Q5_K_M\": it has Q4_K_M, Q8_0";
    assert_eq!(error, message);
    let error = offline.fetch(&model(&format!("{NAME}:Q5_K_M"))).unwrap_err();
    assert!(matches!(error, Error::Offline { .. }), "{error:?}");
}

/// What could not be loaded is not downloaded.
#[test]
fn what_cannot_be_loaded_is_refused_before_its_weights() {
    let refused = |change: &dyn Fn(&mut Files), message: &str| {
        let mut files = tiny();
        change(&mut files);
        let cache = tempfile::tempdir().unwrap();
        let server = Server::start(files);
        let error = hub(&server.address, &cache).fetch(&model(NAME)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        let requests = server.requests();
        let is_weights = |request: &server::Request| request.file.contains("safetensors");
        assert!(!requests.iter().any(is_weights), "{requests:?}");
    };
    refused(
        &|files| {
            files.insert("config.json".to_owned(), br#"{"model_type": "mamba"}"#.to_vec());
        },
        "config.json of `org/tiny`",
    );
    let replace = |files: &mut Files, name: &str| {
        files.remove("model.safetensors");
        files.insert(name.to_owned(), vec![0; 10]);
    };
    refused(&|files| replace(files, "pytorch_model.bin"), "conversion to safetensors");
    refused(&|files| replace(files, "adapter_config.json"), "merge_and_unload");
    refused(&|files| replace(files, "notes.txt"), "has no weights that can be read");

    let cache = tempfile::tempdir().unwrap();
    let server = Server::start([("tiny-Q8_0.gguf".to_owned(), vec![7; 100])].into());
    let hub = hub(&server.address, &cache);
    server.state().architecture = Some("mamba".to_owned());
    let error = hub.fetch(&model(NAME)).unwrap_err().to_string();
    assert!(error.contains("`org/tiny`") && error.contains("mamba"), "{error}");
    assert_eq!(server.requests(), []);
    server.state().architecture = Some("qwen3".to_owned());
    hub.fetch(&model(NAME)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn what_memory_does_not_hold_is_refused_before_its_weights() {
    let cache = tempfile::tempdir().unwrap();
    let mut files = tiny();
    files.insert("tiny-Q4_K_M.gguf".to_owned(), vec![0; 10]);
    files.insert("tiny-Q2_K.gguf".to_owned(), vec![0; 10]);
    let server = Server::start(files);
    server.state().parameters = Some(1 << 50);
    server.state().claimed = [("tiny-Q4_K_M.gguf".to_owned(), 1 << 50)].into();
    let asking = Hub { into_memory: true, ..hub(&server.address, &cache) };
    for name in [NAME, "org/tiny:Q4_K_M"] {
        let error = asking.fetch(&model(name)).unwrap_err();
        let Error::TooLarge { smaller, .. } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(*smaller, ["Q2_K"]);
        assert!(error.to_string().ends_with("take a smaller model, or it in Q2_K"), "{error}");
    }
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.file.ends_with(".json")), "{requests:?}");
    asking.fetch(&model("org/tiny:Q2_K")).unwrap();
    hub(&server.address, &cache).fetch(&model(NAME)).unwrap();
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
        let hub = hub(&server.address, &cache);
        let model = model(&format!("{NAME}/{}", part(named)));
        let path = hub.fetch(&model).unwrap();
        let snapshot = snapshot(&cache);
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
    let error = hub(&server.address, &cache).fetch(&model(&format!("{NAME}/{}", part(1))));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("has no file \"more/tiny-00003-of-00003.gguf\""), "{error}");
    assert_eq!(server.requests(), []);
}

/// How a text becomes one vector stands in a folder of its own.
#[test]
fn what_models_for_embeddings_have_is_fetched() {
    let mut files = tiny();
    files.insert("modules.json".to_owned(), b"[]".to_vec());
    files.insert("1_Pooling/config.json".to_owned(), b"{}".to_vec());
    let cache = tempfile::tempdir().unwrap();
    let server = Server::start(files.clone());
    let hub = hub(&server.address, &cache);
    assert_same_files(&hub.fetch(&model(NAME)).unwrap(), &files);
    server.requests();
    hub.fetch(&model(NAME)).unwrap();
    assert_eq!(server.requests(), []);
}

#[test]
fn what_is_in_the_cache_is_listed_and_removed() {
    let cache = tempfile::tempdir().unwrap();
    let gguf = "more/tiny.F16.gguf";
    let mut files = tiny();
    files.insert(gguf.to_owned(), vec![7; 3000]);
    let server = Server::start(files.clone());
    let hub = hub(&server.address, &cache);
    assert_eq!(hub.cached().unwrap(), []);
    hub.fetch(&model(NAME)).unwrap();
    hub.fetch(&model(&format!("{NAME}/{gguf}"))).unwrap();
    // What is no model, and a model of another program at a commit without a name.
    std::fs::create_dir_all(cache.path().join("datasets--org--texts/snapshots/1")).unwrap();
    std::fs::create_dir_all(cache.path().join("models--org--half/snapshots/1")).unwrap();
    let half = cache.path().join("models--org--half/snapshots/1");
    std::fs::write(half.join("config.json"), [7; 10]).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(".", half.join("circle")).unwrap();

    let found = hub.cached().unwrap();
    let all: usize =
        files.iter().filter(|(name, _)| *name != "README.md").map(|(_, f)| f.len()).sum();
    let names: Vec<&str> = found.iter().map(|found| found.model.as_str()).collect();
    assert_eq!(names, ["org/half@1", "org/tiny", "org/tiny/more/tiny.F16.gguf"]);
    assert_eq!(found[1].path, snapshot(&cache));
    assert_eq!(found[2].path, snapshot(&cache).join(gguf));
    assert_eq!([found[1].bytes, found[2].bytes], [all as u64, 3000]);
    let whole: Vec<bool> = found.iter().map(|found| found.is_whole).collect();
    assert_eq!(whole, [false, true, true]);
    // Each is loaded by its name.
    let offline = Hub { offline: true, ..hub.clone() };
    for found in &found[1..] {
        assert_eq!(offline.fetch(&model(&found.model)).unwrap(), found.path);
    }

    assert!(hub.remove(&model(NAME)).unwrap() >= all as u64);
    assert!(matches!(hub.remove(&model(NAME)), Err(Error::NotCached { .. })));
    assert_eq!(hub.cached().unwrap().len(), 1);
}
