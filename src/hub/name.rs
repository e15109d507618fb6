//! Model names on the hub.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// A model on the hub, `org/name`, at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubModel {
    /// The repository: `org/name`.
    pub name: String,
    /// A branch, a tag or a commit.
    pub revision: String,
}

impl FromStr for HubModel {
    type Err = Error;

    /// Parses `org/name` or `org/name@revision`; the default revision is `main`.
    fn from_str(text: &str) -> Result<Self> {
        let (name, revision) = text.split_once('@').unwrap_or((text, "main"));
        if !is_path(name) || !is_path(revision) || name.split('/').count() > 2 {
            return Err(Error::Parameter {
                name: "the model's name on the hub",
                value: format!("`{text}`"),
                allowed: "org/name or org/name@revision",
            });
        }
        Ok(Self { name: name.to_owned(), revision: revision.to_owned() })
    }
}

/// Whether `text` is safe as a part of paths and URLs.
fn is_path(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.split('/')
        .all(|part| !part.starts_with('.') && !part.is_empty() && part.chars().all(is_plain))
}

impl fmt::Display for HubModel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.revision.as_str() {
            "main" => write!(out, "{}", self.name),
            revision => write!(out, "{}@{revision}", self.name),
        }
    }
}
