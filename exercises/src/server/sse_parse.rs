//! Server-sent events, read from bytes that are split anywhere.

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
    /// The network cuts a stream wherever it likes: within a line, a character, or between CR and
    /// LF. Take the next bytes, and return the events that end with them, in order.
    ///
    /// These are the rules of the WHATWG for `text/event-stream`:
    ///
    /// - A line ends with LF, with CR, or with CR LF, which is one line end. A CR ends its line at
    ///   once, whatever comes next.
    /// - A line is UTF-8. Bytes that are not become U+FFFD, as with `String::from_utf8_lossy`. A
    ///   byte order mark (EF BB BF) at the very beginning of the stream is left out.
    /// - A line that begins with a colon is a comment. Servers send comments so that the connection
    ///   is not idle.
    /// - In every other line, the field is what comes before the first colon, and the value is what
    ///   comes after it. One space at the beginning of the value is left out. A line without a
    ///   colon is a field whose value is empty.
    /// - `data` adds a line of data. `event` is the name of this event, the last one if there are
    ///   several, `message` if it is empty. `id` is the id from here on, for later events too,
    ///   unless the value contains a NUL. `retry` is explained below. Other fields are ignored, and
    ///   so are fields with capital letters.
    /// - An empty line ends the event. With at least one line of data it is returned, even if that
    ///   line is empty. Without any there is no event, and its name is forgotten.
    ///
    /// ```text
    /// push(b": hello\ndata: on")    []
    /// push(b"ce\ndata:upon\n\n")    [message "once\nupon"]
    /// ```
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        todo!()
    }

    /// How many milliseconds to wait before connecting again: the value of the last valid `retry`
    /// field. It is valid if it consists only of ASCII digits, at least one, and fits in a `u64`.
    pub fn retry(&self) -> Option<u64> {
        todo!()
    }
}
