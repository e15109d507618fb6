//! What the engine in the page has in common for all widgets: requests and answers in JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use slowburn::generate::Options;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

/// The error of a widget: a sentence for the reader.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// The engine's side of a widget on a page. It holds what the widget has done so far; the page draws.
pub trait Widget {
    /// Answers one request. Both are JSON.
    ///
    /// # Errors
    /// A request that cannot be carried out, such as one with a parameter out of its range.
    fn answer(&mut self, request: &str) -> Result<String>;
}

/// Reads a request, lets `work` answer it, and writes the answer.
pub fn in_json<R: DeserializeOwned, A: Serialize>(
    request: &str,
    work: impl FnOnce(R) -> Result<A>,
) -> Result<String> {
    let request = serde_json::from_str(request)?;
    Ok(serde_json::to_string(&work(request)?)?)
}

/// The beginning of a text, and how it should go on.
#[derive(Debug, Deserialize)]
pub struct Beginning {
    pub prompt: String,
    max_tokens: usize,
    sampling: SamplingParams,
}

impl Beginning {
    pub fn options(&self) -> Options {
        Options {
            max_tokens: self.max_tokens,
            sampling: self.sampling.clone(),
            ..Options::default()
        }
    }
}

/// A token as a page shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Token {
    pub id: u32,
    /// Its text, or the name of a special token. Bytes that are no whole character become U+FFFD.
    pub text: String,
    /// Its bytes; none for a special token.
    pub bytes: Vec<u8>,
    pub is_special: bool,
}

impl Token {
    pub fn new(pretrained: &Pretrained, id: u32) -> Self {
        let bytes = pretrained.tokenizer.token_bytes(id);
        let is_special = bytes.is_none();
        let name = || pretrained.tokenizer.token(id).unwrap_or_default();
        let text = bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Self {
            id,
            text: text.unwrap_or_else(name),
            bytes: bytes.unwrap_or_default(),
            is_special,
        }
    }

    pub fn all(pretrained: &Pretrained, ids: &[u32]) -> Vec<Self> {
        ids.iter().map(|id| Self::new(pretrained, *id)).collect()
    }
}
