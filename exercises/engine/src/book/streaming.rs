//! What carries the text to its reader, by the code of the crate.

use crate::parts::{Decode, Filter};

#[allow(
    dead_code,
    reason = "nothing here continues the last character of a prompt"
)]
#[path = "../../../../src/tokenizer/incremental/bytes.rs"]
mod bytes;
#[allow(dead_code, reason = "the stop strings here come from nobody else")]
#[path = "../../../../src/tokenizer/stop_strings.rs"]
mod stop_strings;

use bytes::ByteBuffer;
use stop_strings::StopStrings;

pub fn decoder() -> Box<dyn Decode> {
    Box::new(ByteBuffer::after(&[]))
}

impl Decode for ByteBuffer {
    fn push(&mut self, bytes: &[u8]) -> String {
        self.push(bytes)
    }

    fn finish(self: Box<Self>) -> String {
        ByteBuffer::finish(*self)
    }
}

struct Held {
    stops: StopStrings,
    text: String,
}

pub fn stop_filter(stops: &[&str]) -> Box<dyn Filter> {
    let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
    Box::new(Held { stops: StopStrings::new(&stops), text: String::new() })
}

impl Filter for Held {
    fn push(&mut self, piece: &str) -> (String, bool) {
        self.text.push_str(piece);
        if let Some(found) = self.stops.find(&self.text) {
            let before = self.text[..found.range.start].to_owned();
            self.text.clear();
            return (before, true);
        }
        let held = self.text.len() - self.stops.undecided(&self.text);
        let rest = self.text.split_off(held);
        (std::mem::replace(&mut self.text, rest), false)
    }

    fn finish(self: Box<Self>) -> String {
        self.text
    }
}
