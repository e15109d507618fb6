//! Stop strings that begin in one token and end in another.
//!
//! Why: you can't take back what was given out, so a piece may only go when no stop string can
//! begin in it any more. A stop string can only begin where the text so far ends with one of its
//! beginnings, and the longest such end is enough: it holds all the shorter ones. If the next piece
//! shows that it was no stop string, you search again over the held text, because a new beginning
//! may lie inside the old one.
//!
//! What it costs: for each token, the held text is searched once for each stop string. The held
//! text is shorter than the longest stop string, so the cost does not grow with the text.
//!
//! A common wrong turn: giving out everything held when the text doesn't go on like the stop
//! string. With "aab" and the text "aaab", the second "a" is the beginning that counts, and it has
//! gone. A common extravagance: always holding back as many bytes as the longest stop string has.
//! Nothing is lost, but the reader is always a few characters behind.

use std::cmp::Reverse;

/// Lets a text through until it contains a stop string.
#[derive(Debug)]
pub struct StopFilter {
    stops: Vec<String>,
    held: String,
}

/// What one token adds to the text of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Passed {
    pub text: String,
    /// Whether a stop string is complete: the generation has ended.
    pub stopped: bool,
}

impl StopFilter {
    /// A filter for these stop strings, none of which is empty.
    pub fn new(stops: &[&str]) -> Self {
        let stops = stops.iter().map(|&stop| stop.to_owned()).collect();
        Self { stops, held: String::new() }
    }

    /// Takes the text of one more token, and returns what is now known to be a part of the result.
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

    /// No more tokens come.
    pub fn finish(self) -> String {
        self.held
    }

    /// Where the stop string begins that is complete first.
    fn stop(&self) -> Option<usize> {
        let found = self.stops.iter().filter_map(|stop| {
            let start = self.held.find(stop)?;
            Some((start + stop.len(), Reverse(stop.len()), start))
        });
        found.min().map(|(_, _, start)| start)
    }

    /// How much of the held text comes before anything that may begin a stop string.
    fn settled(&self) -> usize {
        let begins_a_stop = |&at: &usize| {
            let end = &self.held[at..];
            self.stops.iter().any(|stop| stop.starts_with(end))
        };
        let mut starts = self.held.char_indices().map(|(at, _)| at);
        starts.find(begins_a_stop).unwrap_or(self.held.len())
    }
}
