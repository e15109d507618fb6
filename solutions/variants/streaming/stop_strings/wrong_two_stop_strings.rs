//! The third stop string and all behind it are forgotten.

use std::cmp::Reverse;

#[derive(Debug)]
pub struct StopFilter {
    stops: Vec<String>,
    held: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    pub text: String,
    pub stopped: bool,
}

impl StopFilter {
    pub fn new(stops: &[&str]) -> Self {
        let stops = stops.iter().map(|&stop| stop.to_owned()).collect();
        Self { stops, held: String::new() }
    }

    pub fn push(&mut self, piece: &str) -> Passed {
        self.held.push_str(piece);
        if let Some(start) = self.stop() {
            self.held.truncate(start);
            return Passed { text: std::mem::take(&mut self.held), stopped: true };
        }
        let rest = self.held.split_off(self.settled());
        let text = std::mem::replace(&mut self.held, rest);
        Passed { text, stopped: false }
    }

    pub fn finish(self) -> String {
        self.held
    }

    fn stop(&self) -> Option<usize> {
        let found = self.stops.iter().take(2).filter_map(|stop| {
            let start = self.held.find(stop)?;
            Some((start + stop.len(), Reverse(stop.len()), start))
        });
        found.min().map(|(_, _, start)| start)
    }

    fn settled(&self) -> usize {
        let begins_a_stop = |&at: &usize| {
            let end = &self.held[at..];
            self.stops.iter().any(|stop| stop.starts_with(end))
        };
        let mut starts = self.held.char_indices().map(|(at, _)| at);
        starts.find(begins_a_stop).unwrap_or(self.held.len())
    }
}
