//! Server-sent events, byte for byte.
//!
//! Why: in this format a line end is the only thing that has a meaning everywhere, so you must know
//! where every one of them comes from. A line end in the data becomes a new line of data. One in a
//! name would begin a field that a stranger has chosen: that is how header and event injection
//! work, so you refuse it instead of repairing it, since no repair would have the right meaning. CR
//! LF is made one line end before the lines are split, so that no empty line comes between them.
//!
//! What it costs: two passes over the data and one copy of it. JSON on one line is one line of
//! data.
//!
//! A common wrong turn: `format!("data: {data}\n\n")`. It is right for years, until a caller sends
//! JSON that was printed for people: the client sees the first line, and ignores the rest, which
//! has no field. Another is `str::lines`, which loses the line end at the end, and does not know a
//! CR alone.

/// One server-sent event, as it goes over the wire.
pub fn event(name: Option<&str>, data: &str) -> Option<String> {
    let name_line = match name {
        Some(name) if name.contains(['\r', '\n']) => return None,
        Some(name) => format!("event: {name}\n"),
        None => String::new(),
    };
    let data = data.replace("\r\n", "\n");
    let data_lines = data.split(['\r', '\n']).map(|line| format!("data: {line}\n"));
    Some(name_line + &data_lines.collect::<String>() + "\n")
}

/// A whole stream of the OpenAI API: an event without a name for each chunk, in order, and one
/// more at the end, whose data is `[DONE]`. A chunk is JSON. It may be written over several lines.
pub fn stream(chunks: &[&str]) -> String {
    let data = chunks.iter().copied().chain(["[DONE]"]);
    data.filter_map(|data| event(None, data)).collect()
}
