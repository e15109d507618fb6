//! JSON as in the templates of transformers.

use std::io;

use minijinja::value::Kwargs;
use minijinja::{Error, ErrorKind, Value};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::budget::Budget;
use super::python;

/// JSON as written by Python's `json.dumps`. Jinja's own filter escapes characters for HTML, which
/// models have not seen in training.
pub(super) fn to_json(budget: &Budget, value: &Value, options: &Kwargs) -> Result<Value, Error> {
    let indent = options.get::<Option<u8>>("indent")?.map(|n| " ".repeat(n.into()));
    let separators = options.get::<Option<Vec<String>>>("separators")?;
    let ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    options.assert_all_used()?;
    let item = if indent.is_some() { "," } else { ", " };
    let separators = separators.unwrap_or_else(|| vec![item.to_owned(), ": ".to_owned()]);
    let [item, key] = separators.try_into().map_err(|_| bad_json("separators are two texts"))?;
    let formatter = PythonJson { item, key, indent, depth: 0, empty: true };
    let mut json = Limited { bytes: Vec::new(), budget };
    budget.weigh(value)?;
    value.serialize(&mut Serializer::with_formatter(&mut json, formatter)).map_err(bad_json)?;
    let json = String::from_utf8(json.bytes).map_err(bad_json)?;
    Ok(Value::from(if ascii { escape_non_ascii(&json) } else { json }))
}

/// A writer that charges each byte to the budget.
struct Limited<'a> {
    bytes: Vec<u8>,
    budget: &'a Budget,
}

impl io::Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.budget.spend(bytes.len() as u64).map_err(io::Error::other)?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn bad_json(error: impl ToString) -> Error {
    Error::new(ErrorKind::BadSerialization, error.to_string())
}

/// Escapes non-ASCII characters, which JSON allows only within strings.
fn escape_non_ascii(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            escaped.push(c)
        } else {
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            escaped.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    escaped
}

/// The separators and line breaks of `json.dumps`.
struct PythonJson {
    /// The separators between items, and between a key and its value.
    item: String,
    key: String,
    /// The indentation per level, if each item has its own line.
    indent: Option<String>,
    depth: usize,
    /// Nothing has been written since the opening bracket.
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
    fn write_f64<W: ?Sized + io::Write>(&mut self, out: &mut W, number: f64) -> io::Result<()> {
        out.write_all(python::float(number).as_bytes())
    }

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
