//! What the compiler says of code that is wrong.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

#[derive(Debug, PartialEq, Eq)]
pub struct CompileError {
    /// From the root of the project.
    pub file: PathBuf,
    /// As the compiler shows it.
    pub text: String,
}

impl CompileError {
    /// An error that belongs to a place in the code, from a message in JSON. Warnings are none.
    pub fn read(message: &Value) -> Option<Self> {
        if message["level"] != "error" {
            return None;
        }
        let spans = message["spans"].as_array()?;
        let primary = spans.iter().find(|span| span["is_primary"] == true)?;
        Some(Self {
            file: plain(Path::new(primary["file_name"].as_str()?)),
            text: message["rendered"].as_str()?.trim_end().to_owned(),
        })
    }
}

/// A suite is mounted by a path with `..` in it: the same without them.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_placed_in_the_file_of_its_primary_span() {
        let span = |file: &str, primary: bool| json!({"file_name": file, "is_primary": primary});
        let mut message = json!({
            "level": "error",
            "rendered": "error: no\n",
            "spans": [
                span("exercises/src/model/mod.rs", false),
                span("exercises/src/model/../../suite/model/mask.rs", true),
            ],
        });
        let error = CompileError::read(&message).unwrap();
        assert_eq!(error.file, Path::new("exercises/suite/model/mask.rs"));
        assert_eq!(error.text, "error: no");
        message["level"] = "warning".into();
        assert_eq!(CompileError::read(&message), None);
        // "aborting due to 1 previous error" has no place.
        assert_eq!(
            CompileError::read(&json!({"level": "error", "rendered": "", "spans": []})),
            None
        );
    }
}
