//! Which files of a model are fetched.

use super::*;

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
