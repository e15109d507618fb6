//! Model names on the hub.

use std::fmt;
use std::str::FromStr;

use crate::checkpoint::gguf::PartName;
use crate::error::{Error, RequestError, Result};

/// A model on the hub, `org/name`, at a revision: a folder in Hugging Face's format, or one GGUF file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubModel {
    /// The repository: `org/name`.
    pub name: String,
    /// A branch, a tag or a commit.
    pub revision: String,
    /// A GGUF file, which is a model or one of the files that it was split into.
    pub file: Option<String>,
    /// What the name of a GGUF file ends in, in either case, such as `Q4_K_M`. Without file and format, it is
    /// the folder if the repository has one with weights, or else the GGUF file in `Q4_K_M`, or the nearest to it.
    pub format: Option<String>,
}

impl HubModel {
    /// The GGUF files of the model: those that it was split into, if the name of `file` says so.
    pub(super) fn gguf_files(&self) -> Vec<String> {
        match &self.file {
            None => Vec::new(),
            Some(file) => PartName::parse(file)
                .map_or_else(|| vec![file.clone()], |name| name.all().collect()),
        }
    }
}

/// How names are written.
const ALLOWED: &str =
    "org/name or org/name@revision, or for one file of it org/name:Q4_K_M or org/name/file.gguf";

impl FromStr for HubModel {
    type Err = Error;

    /// Parses `org/name`, `org/name:FORMAT` or `org/name/file.gguf`, with `@revision` or without; the default
    /// revision is `main`.
    fn from_str(text: &str) -> Result<Self> {
        let (path, revision) = text.split_once('@').unwrap_or((text, "main"));
        let (path, format) = match path.split_once(':') {
            Some((path, format)) => (path, Some(format)),
            None => (path, None),
        };
        let (name, file) = split_file(path);
        let is_gguf = file.is_none_or(|file| file.to_ascii_lowercase().ends_with(".gguf"));
        let is_format = format.is_none_or(|format| {
            is_path(format) && !format.contains('/') && file.is_none() && name.contains('/')
        });
        if !is_path(path) || !is_path(revision) || !is_gguf || !is_format {
            return Err(RequestError::Parameter {
                name: "the model's name on the hub",
                value: format!("`{text}`"),
                allowed: ALLOWED,
            }
            .into());
        }
        Ok(Self {
            name: name.to_owned(),
            revision: revision.to_owned(),
            file: file.map(str::to_owned),
            format: format.map(str::to_owned),
        })
    }
}

/// The repository, and what follows it.
fn split_file(path: &str) -> (&str, Option<&str>) {
    match path.match_indices('/').nth(1) {
        Some((slash, _)) => (&path[..slash], Some(&path[slash + 1..])),
        None => (path, None),
    }
}

/// Whether `text` is safe as a part of paths and URLs.
fn is_path(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.split('/')
        .all(|part| !part.starts_with('.') && !part.is_empty() && part.chars().all(is_plain))
}

impl fmt::Display for HubModel {
    /// The repository and the revision, without the file.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.revision.as_str() {
            "main" => write!(out, "{}", self.name),
            revision => write!(out, "{}@{revision}", self.name),
        }
    }
}
