//! The times of the requests of a run.

use super::request::Request;

/// Notes when tokens come out.
#[derive(Debug, Default)]
pub struct Recorder {
    progress: Vec<Progress>,
    /// One for each request that got a token, in seconds, from its arrival.
    pub time_to_first_token: Vec<f64>,
    /// One for each token but the first of every request, in seconds, from the token before.
    pub inter_token: Vec<f64>,
    /// One for each request that finished, in seconds, from its arrival to its last token.
    pub end_to_end: Vec<f64>,
    /// All tokens that came out.
    pub tokens: usize,
    /// When the last of them came out.
    pub end: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    tokens: usize,
    /// When the first of them came out.
    first: f64,
    /// When the last of them came out.
    last: f64,
}

impl Recorder {
    pub fn new(requests: usize) -> Self {
        Self {
            progress: vec![Progress::default(); requests],
            ..Self::default()
        }
    }

    /// When each request had its first token, by its index.
    pub fn first_tokens(&self) -> Vec<Option<f64>> {
        let first = |progress: &Progress| (progress.tokens > 0).then_some(progress.first);
        self.progress.iter().map(first).collect()
    }

    /// Adds the times of another replica, whose clock is the same.
    pub fn join(&mut self, other: Self) {
        self.time_to_first_token.extend(other.time_to_first_token);
        self.inter_token.extend(other.inter_token);
        self.end_to_end.extend(other.end_to_end);
        self.tokens += other.tokens;
        self.end = self.end.max(other.end);
    }

    /// Notes a token of `request`. Returns how many it has now.
    pub fn token(&mut self, request: &Request, now: f64) -> usize {
        let progress = &mut self.progress[request.index];
        if progress.tokens == 0 {
            progress.first = now;
            self.time_to_first_token.push(now - request.arrival);
        } else {
            self.inter_token.push(now - progress.last);
        }
        progress.tokens += 1;
        progress.last = now;
        if progress.tokens == request.output {
            self.end_to_end.push(now - request.arrival);
        }
        self.tokens += 1;
        self.end = now;
        progress.tokens
    }
}
