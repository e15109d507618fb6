//! The models in the hub's cache.

use serde_json::Value;

use super::*;

#[test]
fn models_are_listed_and_removed() {
    let cache = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = program(args).env("HF_HUB_CACHE", cache.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, none, _) = run(&["models"]);
    assert_eq!(code, Some(0));
    assert!(
        none.contains("ember") && none.contains("spark") && none.contains("No others"),
        "{none}"
    );

    let of_model = cache.path().join("models--org--tiny");
    let snapshot = of_model.join("snapshots/0123");
    fs::create_dir_all(&snapshot).unwrap();
    fs::create_dir_all(of_model.join("refs")).unwrap();
    fs::write(of_model.join("refs/main"), "0123").unwrap();
    fs::write(snapshot.join("config.json"), vec![b' '; 2048]).unwrap();
    let list = || -> Value { serde_json::from_str(&run(&["models", "--json"]).1).unwrap() };
    let found = list()["models"][0].clone();
    assert_eq!(found["model"], "hf:org/tiny");
    assert_eq!((&found["bytes"], &found["complete"]), (&2048.into(), &false.into()));
    let (_, shown, _) = run(&["models"]);
    assert!(shown.contains("hf:org/tiny  2 KiB, files are missing"), "{shown}");
    for file in ["tokenizer.json", "model.safetensors"] {
        fs::write(snapshot.join(file), "").unwrap();
    }
    assert_eq!(list()["models"][0]["complete"], true);

    let (code, _, error) = run(&["models", "remove", "org/other"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("`org/other` is not in"), "{error}");
    let (code, _, error) = run(&["models", "remove", "org/tiny/x.gguf"]);
    assert_eq!(code, Some(2), "{error}");
    for wrong in ["../tiny", "org/..", "org/tiny/../.."] {
        assert_eq!(run(&["models", "remove", wrong]).0, Some(2), "{wrong}");
    }
    assert!(of_model.exists());
    let (code, removed, _) = run(&["models", "remove", "hf:org/tiny"]);
    assert_eq!((code, removed.as_str()), (Some(0), "removed hf:org/tiny: 2 KiB\n"));
    assert!(!of_model.exists());
}
