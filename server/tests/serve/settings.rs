//! Settings from flags and from a file. The environment is tested in `tests/openai`, where each
//! server is a process of its own.

use std::io::Write;
use std::time::Duration;

use crate::foreign_words::assert_in_words;
use slowburn_server::{ConfigError, Seconds, Settings};

fn load(flags: &[&str]) -> Result<Settings, ConfigError> {
    Settings::load(["16_server"].iter().chain(flags).map(Into::into))
}

/// The settings of a file with this text, and of these flags.
fn load_file(text: &str, flags: &[&str]) -> Result<Settings, ConfigError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    load(&[&["--config", path], flags].concat())
}

#[test]
fn the_default_listens_on_this_machine_only() {
    let settings = load(&[]).unwrap();
    assert_eq!(settings.address().to_string(), "127.0.0.1:8080");
    assert_eq!(settings.served_name(), "ember");
    assert_eq!(load(&["--model", "spark"]).unwrap().served_name(), "spark");
    assert!(settings.cors_origins.is_none() && settings.api_key.is_none());
}

#[test]
fn a_file_sets_what_no_flag_sets() {
    let file = r#"
        port = 9000
        kv_cache_bytes = "64MiB"
        request_timeout = 1.5
        no_auth = true
        no_prefix_cache = false
        cors_origins = ["https://a.example", "https://b.example"]
    "#;
    let settings = load_file(file, &["--port", "9001"]).unwrap();
    assert_eq!(settings.port, 9001);
    assert_eq!(settings.model.kv_cache_bytes.map(|bytes| bytes.as_u64()), Some(64 << 20));
    assert_eq!(settings.request_timeout, Seconds(Duration::from_millis(1500)));
    assert!(settings.no_auth && !settings.no_prefix_cache);
    assert_eq!(load_file("port = 9000", &[]).unwrap().port, 9000);
}

#[test]
fn what_is_wrong_is_named() {
    let mut messages = Vec::new();
    for (file, flags, expected) in [
        ("prot = 1", [].as_slice(), "there is no setting `prot` (is `port` meant?)"),
        ("zebra_crossing = 1", &[], "there is no setting `zebra_crossing`"),
        ("config = \"x\"", &[], "there is no setting `config`"),
        ("port = 70000", &[], "'70000' for 'port in /"),
        ("port = 70000", &[], "a whole number from 0 to 65535 is needed"),
        ("kv_cache_bytes = \"1 pound\"", &[], "an amount of memory is needed"),
        ("", &["--rate-per-minute", "4294967296"], "a smaller whole number is needed"),
        ("", &["--draft-tokens", "65"], "a whole number from 1 to 64 is needed"),
        ("port = 70000", &["--threads", "x"], "'x' for '--threads <N>'"),
        ("no_auth = 1", &[], "the setting `no_auth` must be true or false"),
        ("port = { a = 1 }", &[], "the setting `port` must be"),
        ("port = ", &[], "is not TOML"),
        ("request_timeout = -1", &[], "'-1' for 'request_timeout in /"),
        ("no_auth = true", &["--api-key", "long-enough"], "'no_auth in /"),
        ("api_key = \"short\"", &[], "at least 8 characters"),
        ("", &["--host", "0.0.0.0"], "host is 0.0.0.0"),
        ("", &["--host", "no-such-host.invalid"], "--host"),
        ("body_limit = 0", &[], "at least 1 byte"),
        ("", &["--max-connections-per-client", "0"], "--max-connections-per-client"),
        ("", &["--token-budget", "8"], "token_budget is 8"),
        ("", &["--max-waiting", "8"], "max_sequences is 64"),
        ("", &["--rate-per-minute", "5", "--burst", "6"], "burst is 6"),
        ("", &["--max-running", "0"], "--max-running"),
        ("", &["--request-timeout", "0"], "--request-timeout"),
        ("", &["--request-timeout", "1e-10"], "--request-timeout"),
        ("", &["--cors-origins", "example.com"], "--cors-origins"),
        ("", &["--log", "a=b=c"], "--log"),
        ("", &["--burst", "6"], "--rate-per-minute"),
        ("", &["--api-key", "long-enough", "--no-auth"], "--no-auth"),
    ] {
        let error = load_file(file, flags).unwrap_err().to_string();
        assert!(error.contains(expected), "{file} {flags:?}: {error}");
        messages.push(error);
    }
    assert_in_words(&messages);
    let settings = load_file("port = 70000", &["--port", "9001"]).unwrap();
    assert_eq!(settings.port, 9001);
    let error = load(&["--config", "/nowhere/at/all.toml"]).unwrap_err().to_string();
    assert!(
        error.contains("cannot read the settings in \"/nowhere/at/all.toml\""),
        "{error}"
    );
}

#[test]
fn another_address_needs_a_key_or_a_word() {
    load(&["--host", "0.0.0.0", "--api-key", "long-enough"]).unwrap();
    load(&["--host", "::", "--no-auth"]).unwrap();
    load(&["--host", "::1"]).unwrap();
    for name in ["localhost", "[::1]"] {
        assert!(load(&["--host", name]).unwrap().host.is_loopback(), "{name}");
    }
}

#[test]
fn keys_are_in_no_message() {
    let settings = load(&["--api-key", "very-secret-key"]).unwrap();
    assert!(!format!("{settings:?}").contains("very-secret"));
    let error = load(&["--api-key", "a b-secret-with-spaces"]).unwrap_err();
    assert!(error.to_string().contains("without spaces") && !error.to_string().contains("secret"));
    let error = load_file("api_key = \"a b-secret-with-spaces\"", &[]).unwrap_err();
    assert!(error.to_string().contains("api_key in") && !error.to_string().contains("secret"));
}
