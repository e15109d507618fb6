//! Server-sent events, read from bytes that are split anywhere.
//!
//! Why: bytes are cut anywhere, but lines are not, so the parser keeps the bytes of the unfinished
//! line, and understands it once it has ended. No byte of a longer UTF-8 character is a CR or an
//! LF, so you can find a line end before you decode anything, and no character is ever cut. After a
//! CR the line has ended in any case. Whether an LF belongs to it is known with the next byte, and
//! waiting for that would hold back an event that is complete.
//!
//! What it costs: one look at each byte, and the memory of one line and one event. A parser that
//! must not trust its server also limits the length of both.
//!
//! A common wrong turn: searching each piece for an empty line (`\n\n`). In a test on one machine
//! every event comes in one piece, and all is right. On a slow connection it is cut, and half an
//! event is lost. Another: decoding each piece with `from_utf8_lossy`, which makes two U+FFFD of a
//! character that was cut.

use std::mem;

/// One event, as its reader gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// `message` if the stream names none.
    pub name: String,
    /// The lines of data, joined with LF.
    pub data: String,
    /// The last id of the stream so far, empty if there was none.
    pub id: String,
}

/// Reads a stream of events. `Parser::default()` is at its beginning. The fields are a proposal.
#[derive(Debug, Default)]
pub struct Parser {
    /// The bytes of the line that has not ended.
    line: Vec<u8>,
    /// Whether the last byte was a CR.
    after_cr: bool,
    /// Whether the first line has ended.
    begun: bool,
    name: String,
    data: String,
    id: String,
    retry: Option<u64>,
}

impl Parser {
    /// Takes the next bytes of the stream, and returns the events that end with them, in order. The
    /// bytes may be cut anywhere: within a line, a character, or between CR and LF.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                // The second half of CR LF.
                b'\n' if after_cr => {}
                b'\r' | b'\n' => events.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        events
    }

    /// How many milliseconds to wait before connecting again: the value of the last valid `retry`
    /// field. It is valid if it consists only of ASCII digits, at least one, and fits in a `u64`.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Understands the line that has just ended.
    fn end_line(&mut self) -> Option<Event> {
        let mut line = mem::take(&mut self.line);
        if !mem::replace(&mut self.begun, true) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let line = String::from_utf8_lossy(&line);
        // The field of a comment is empty.
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.data = mem::take(&mut self.data) + value + "\n",
            "event" => value.clone_into(&mut self.name),
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            // `parse` alone would take "+5".
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().or(self.retry);
            }
            _ => {}
        }
        None
    }

    /// The event that an empty line ends, if it has data.
    fn end_event(&mut self) -> Option<Event> {
        let name = mem::take(&mut self.name);
        let mut data = mem::take(&mut self.data);
        // Each line of data ends with LF, so only an event without any gives nothing here.
        data.pop()?;
        let name = if name.is_empty() {
            "message".to_owned()
        } else {
            name
        };
        Some(Event { name, data, id: self.id.clone() })
    }
}
