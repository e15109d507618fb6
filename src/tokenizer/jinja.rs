//! The environment in which chat templates run: what transformers gives them.

use std::collections::BTreeMap;
use std::io;

use jiff::civil::DateTime;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{Environment, Error, ErrorKind, Value};
use minijinja_contrib::pycompat;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// A template is a program from a file and could go round in circles. A message takes about a
/// hundred instructions.
const MAX_INSTRUCTIONS: u64 = 1_000_000;

/// A template could also write without end. No context is as long as this many bytes of text.
///
/// What it keeps in its variables is not limited: the engine has no hook there, and a template
/// that appends a text to itself forty times fills any memory. Its longest single texts are
/// limited by the engine (100 MB for a repeated one).
const MAX_BYTES: usize = 64 << 20;

/// Runs a template. An error is its description in one line.
pub(super) fn render(
    source: &str,
    context: BTreeMap<&str, Value>,
    now: Option<DateTime>,
) -> Result<String, String> {
    let source = replace_generation_tags(source);
    let run = || {
        let mut text = Limited(Vec::new());
        environment(now)?.template_from_str(&source)?.render_captured_to(context, &mut text)?;
        // The engine writes nothing but strings.
        Ok(String::from_utf8_lossy(&text.0).into_owned())
    };
    run().map_err(|error: Error| one_line(&error))
}

/// An error of the engine, and what the writer said where it was the writer that refused.
fn one_line(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default()).replace(['\n', '\r'], " ")
}

/// A text that refuses to grow beyond [`MAX_BYTES`].
struct Limited(Vec<u8>);

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BYTES {
            let message = format!("it writes more than {MAX_BYTES} bytes");
            return Err(io::Error::other(message));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn environment(now: Option<DateTime>) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_unknown_method_callback(pycompat::unknown_method_callback);
    environment.set_fuel(Some(MAX_INSTRUCTIONS));
    environment.add_filter("tojson", tojson);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    if let Some(now) = now {
        environment.add_function("strftime_now", move |format: String| {
            jiff::fmt::strtime::format(&format, now)
                .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
        });
    }
    Ok(environment)
}

/// `{% generation %}` marks what the assistant said, for training. `with` is a block that
/// leaves its content as it is, and its variables inside.
fn replace_generation_tags(source: &str) -> String {
    let mut replaced = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("{%") {
        let (before, tag) = rest.split_at(start);
        let Some(length) = tag.find("%}") else { break };
        let (tag, after) = tag.split_at(length);
        replaced.push_str(before);
        match tag.trim_matches(|c: char| c.is_whitespace() || "{%+-".contains(c)) {
            "generation" | "endgeneration" => replaced.push_str(&tag.replace("generation", "with")),
            _ => replaced.push_str(tag),
        }
        rest = after;
    }
    replaced + rest
}

/// JSON as Python's `json.dumps` writes it. Jinja's own filter escapes characters for HTML,
/// which a model has not seen.
fn tojson(value: &Value, options: Kwargs) -> Result<Value, Error> {
    let indent = options.get::<Option<u8>>("indent")?.map(|n| " ".repeat(n.into()));
    let separators = options.get::<Option<Vec<String>>>("separators")?;
    let ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    options.assert_all_used()?;
    let item = if indent.is_some() { "," } else { ", " };
    let separators = separators.unwrap_or_else(|| vec![item.to_owned(), ": ".to_owned()]);
    let [item, key] = separators.try_into().map_err(|_| bad_json("separators are two texts"))?;
    let formatter = PythonJson { item, key, indent, depth: 0, empty: true };
    let mut json = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut json, formatter)).map_err(bad_json)?;
    let json = String::from_utf8(json).map_err(bad_json)?;
    Ok(Value::from(if ascii { escape_non_ascii(&json) } else { json }))
}

fn bad_json(error: impl ToString) -> Error {
    Error::new(ErrorKind::BadSerialization, error.to_string())
}

/// Outside strings, JSON is ASCII.
fn escape_non_ascii(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c.is_ascii() {
            true => escaped.push(c),
            false => {
                let units = c.encode_utf16(&mut [0; 2]).to_vec();
                escaped.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    escaped
}

/// The separators and line breaks of `json.dumps`.
struct PythonJson {
    /// Between items, and between a key and its value.
    item: String,
    key: String,
    /// What stands before an item for each level, if each item has its own line.
    indent: Option<String>,
    depth: usize,
    /// Nothing has been written since the last bracket.
    empty: bool,
}

impl PythonJson {
    fn open<W: ?Sized + io::Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.empty = true;
        out.write_all(bracket)
    }

    fn close<W: ?Sized + io::Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if !self.empty {
            self.new_line(out)?;
        }
        self.empty = false;
        out.write_all(bracket)
    }

    fn begin_item<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(self.item.as_bytes())?;
        }
        self.empty = false;
        self.new_line(out)
    }

    fn new_line<W: ?Sized + io::Write>(&self, out: &mut W) -> io::Result<()> {
        let Some(indent) = &self.indent else {
            return Ok(());
        };
        out.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| out.write_all(indent.as_bytes()))
    }
}

impl Formatter for PythonJson {
    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.begin_item(out, first)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        out: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.begin_item(out, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(self.key.as_bytes())
    }
}
