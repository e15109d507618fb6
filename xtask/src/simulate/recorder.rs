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

    /// Notes a token of `request`. Returns how many it has now.
    pub fn token(&mut self, request: &Request, now: f64) -> usize {
        let progress = &mut self.progress[request.index];
        if progress.tokens == 0 {
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
