//! What became of one request.

/// The times are in seconds since the start of the round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// When the request was due, and not when it was sent: a client that is late has waited too.
    pub arrival: f64,
    pub sent: f64,
    /// The HTTP status; none if there was no answer.
    pub status: Option<u16>,
    /// Why there is no answer, or only a part of it.
    pub failure: Option<String>,
    /// The times of the chunks that have text.
    pub chunks: Vec<f64>,
    pub end: f64,
    /// The token counts, as the server has them.
    pub usage: Option<Usage>,
}

/// The token counts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub struct Usage {
    pub prompt_tokens: usize,
    pub completion_tokens: usize,
    /// Of a server that says how much its prefix cache spared.
    pub prompt_tokens_details: Option<PromptDetails>,
}

/// Where the tokens of a prompt came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub struct PromptDetails {
    pub cached_tokens: Option<usize>,
}

impl Usage {
    /// The prompt tokens that came from a prefix cache.
    pub fn cached_tokens(&self) -> usize {
        self.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0)
    }
}

impl Outcome {
    /// Whether the text came to its end.
    pub fn is_complete(&self) -> bool {
        self.status == Some(200) && self.failure.is_none()
    }

    /// The status as a word.
    pub fn status(&self) -> String {
        match (self.status, &self.failure) {
            (None, _) => "no answer".to_owned(),
            (Some(200), Some(_)) => "broken off".to_owned(),
            (Some(status), _) => status.to_string(),
        }
    }

    /// The tokens of the text. A server that does not count them sends a chunk for each.
    pub fn tokens(&self) -> usize {
        self.usage.map_or(self.chunks.len(), |usage| usage.completion_tokens)
    }

    pub fn time_to_first_token(&self) -> Option<f64> {
        self.chunks.first().map(|first| first - self.arrival)
    }

    pub fn inter_token(&self) -> impl Iterator<Item = f64> {
        self.chunks.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// For a text that came to its end.
    pub fn end_to_end(&self) -> Option<f64> {
        self.is_complete().then_some(self.end - self.arrival)
    }
}
