//! Server-sent events, byte for byte.

/// A browser understands server-sent events only byte for byte, and a line end in the wrong place
/// breaks them. Return one event, as it goes over the wire.
///
/// - With a name the first line is `event: ` and the name. `Some("")` is a name too: it gives the
///   line `event: `, with the space. Only `None` gives no line.
/// - Each line of `data` becomes a line of the event: `data: ` and its text. In `data`, a line ends
///   with LF, with CR LF or with CR. The client joins the lines with LF, whatever it was.
/// - If `data` ends with a line end, one more line follows, which is empty. Empty `data` is one
///   empty line. A client ignores an event without any line of data.
/// - Every line of the event ends with LF, and an empty line ends the event.
/// - `None` if the name contains CR or LF: the rest would become a separate line, which a stranger
///   may have chosen.
///
/// ```text
/// event(None, "{}")            "data: {}\n\n"
/// event(Some("error"), "a\nb") "event: error\ndata: a\ndata: b\n\n"
/// event(Some("a\nb"), "{}")    None
/// ```
pub fn event(name: Option<&str>, data: &str) -> Option<String> {
    todo!()
}

/// A whole stream of the OpenAI API: an event without a name for each chunk, in order, and a last
/// one whose data is `[DONE]`. A chunk is JSON. It may be written over several lines.
///
/// ```text
/// stream(&["{}"])    "data: {}\n\ndata: [DONE]\n\n"
/// ```
pub fn stream(chunks: &[&str]) -> String {
    todo!()
}
