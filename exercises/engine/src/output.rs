//! From the bytes of tokens to a text for its reader.

use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::broken::{call, caught, fail};
use crate::parts::{Decode, Emit, Emitted, Filter, Parts, Reader};
use crate::story::Event;

/// The bytes of a text, as characters, up to a stop string.
pub struct Text {
    decoder: Box<dyn Decode>,
    filter: Box<dyn Filter>,
    /// Whether a stop string is complete.
    pub stopped: bool,
}

impl Text {
    pub fn new(parts: &Parts, stops: &[String]) -> Self {
        let stops: Vec<&str> = stops.iter().map(String::as_str).collect();
        Self {
            decoder: call("incremental_decode", parts.decoder),
            filter: call("stop_strings", || (parts.stop_filter)(&stops)),
            stopped: false,
        }
    }

    /// Takes the bytes of a token, and returns what may be shown.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let characters = call("incremental_decode", || self.decoder.push(bytes));
        let (text, stopped) = call("stop_strings", || self.filter.push(&characters));
        self.stopped |= stopped;
        text
    }

    /// What was held back comes now.
    pub fn finish(self) -> String {
        let Self { decoder, mut filter, stopped } = self;
        let rest = call("incremental_decode", || decoder.finish());
        if stopped {
            return String::new();
        }
        let (text, _) = call("stop_strings", || filter.push(&rest));
        text + &call("stop_strings", || filter.finish())
    }
}

/// The reader begins when the stream is full, so that the model has to wait. A stream that is never
/// full, or that blocks then, it does not wait for longer than this.
const LATE: Duration = Duration::from_secs(1);

/// The way to the reader of a story, who is waited for.
pub struct ToReader {
    pub sender: Box<dyn Emit>,
    /// Hears of a stream that is full.
    pub is_full: Sender<()>,
    pub limit: Duration,
}

impl ToReader {
    /// Gives a piece to the reader, as soon as there is room for it.
    pub fn emit(&self, mut piece: String) {
        let begun = Instant::now();
        while !piece.is_empty() {
            match call("token_stream", || self.sender.emit(piece)) {
                Emitted::Sent => return,
                Emitted::Gone => fail("token_stream", "says that nobody reads, but somebody does"),
                Emitted::Behind(same) => piece = same,
            }
            // Only the first time somebody waits for it.
            let _ = self.is_full.send(());
            if begun.elapsed() > self.limit {
                fail("token_stream", "stays full, though somebody reads");
            }
            thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Reads a stream to its end. To wait is right here, so nobody watches how long it takes.
pub fn read(stream: Reader, full: &Receiver<()>, events: &Sender<Event>) {
    let read = caught("token_stream", || {
        // Or the text is complete, and the writer has gone.
        let _ = full.recv_timeout(LATE);
        for piece in stream {
            // The listener may have given up.
            let _ = events.send(Event::Piece(piece));
        }
    });
    let _ = events.send(Event::Read(read));
}
