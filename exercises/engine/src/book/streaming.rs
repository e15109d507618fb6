//! The loop, and what carries the text to its reader.

use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};

use crate::parts::{Decode, Emit, Emitted, End, Filter, Next, Reader};

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

pub fn generate(
    next: &Next<'_>,
    prompt: &[u32],
    eos: &[u32],
    max_tokens: usize,
    context: usize,
) -> (Vec<u32>, End) {
    let mut text = prompt.to_vec();
    loop {
        let new = text.len() - prompt.len();
        if new == max_tokens {
            return (text.split_off(prompt.len()), End::Length);
        }
        if text.len() == context {
            return (text.split_off(prompt.len()), End::Context);
        }
        let logits = next(&text);
        let best =
            (0..logits.len()).reduce(|best, id| if logits[id] > logits[best] { id } else { best });
        let best = best.unwrap_or(0) as u32;
        if eos.contains(&best) {
            return (text.split_off(prompt.len()), End::Eos);
        }
        text.push(best);
    }
}

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

pub fn token_stream(capacity: usize) -> (Box<dyn Emit>, Reader) {
    let (sender, receiver) = sync_channel(capacity);
    (Box::new(sender), Box::new(receiver.into_iter()))
}

impl Emit for SyncSender<String> {
    fn emit(&self, piece: String) -> Emitted {
        match self.try_send(piece) {
            Ok(()) => Emitted::Sent,
            Err(TrySendError::Full(piece)) => Emitted::Behind(piece),
            Err(TrySendError::Disconnected(_)) => Emitted::Gone,
        }
    }
}
