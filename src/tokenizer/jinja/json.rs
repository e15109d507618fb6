//! JSON as in the templates of transformers.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};

use super::args::{self, bind};
use super::budget::Budget;
use super::objects::{Range, View};
use super::python::{self, Number};

/// JSON as written by Python's `json.dumps`. Jinja's own filter escapes characters for HTML, which
/// models have not seen in training.
pub(super) fn to_json(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, ascii, indent, separators, sort_keys] =
        bind(values, ["x", "ensure_ascii", "indent", "separators", "sort_keys"])?;
    let indent = match args::given(indent) {
        None => None,
        Some(indent) => match indent.as_str() {
            Some(text) => Some(text.to_owned()),
            None => Some(" ".repeat(indent_width(budget, &indent)?)),
        },
    };
    let separators = match args::given(separators) {
        Some(separators) => {
            separators.try_iter()?.map(|text| text.as_str().map(str::to_owned)).collect()
        }
        None => {
            let item = if indent.is_some() { "," } else { ", " };
            Some(vec![item.to_owned(), ": ".to_owned()])
        }
    };
    let separators = separators.and_then(|separators| <[String; 2]>::try_from(separators).ok());
    let [item, key] = separators.ok_or_else(|| bad_json("separators are two texts"))?;
    let mut writer = Writer {
        budget,
        item,
        key,
        indent,
        ascii: args::is_true(ascii.as_ref()),
        sort_keys: args::is_true(sort_keys.as_ref()),
        text: String::new(),
    };
    let value = value.unwrap_or_default();
    budget.weigh(&value)?;
    writer.value(&value, 0)?;
    Ok(Value::from(writer.text))
}

fn indent_width(budget: &Budget, indent: &Value) -> Result<usize, Error> {
    let width = usize::try_from(args::integer(indent)?).unwrap_or(0);
    budget.spend(width as u64)?;
    Ok(width)
}

fn bad_json(error: impl ToString) -> Error {
    Error::new(ErrorKind::BadSerialization, error.to_string())
}

struct Writer<'a> {
    budget: &'a Budget,
    /// The separators between items, and between a key and its value.
    item: String,
    key: String,
    /// The indentation per level, if each item has its own line.
    indent: Option<String>,
    ascii: bool,
    sort_keys: bool,
    text: String,
}

impl Writer<'_> {
    /// Charges each byte to the budget.
    fn push(&mut self, text: &str) -> Result<(), Error> {
        self.budget.spend(text.len() as u64)?;
        self.text.push_str(text);
        Ok(())
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if let Some(number) = Number::of(value) {
            return match (number, value.kind()) {
                (Number::Whole(1), ValueKind::Bool) => self.push("true"),
                (Number::Whole(_), ValueKind::Bool) => self.push("false"),
                (Number::Whole(_), _) => self.push(&value.to_string()),
                (Number::Real(real), _) => self.push(&float(real)),
            };
        }
        let is_json = value.downcast_object_ref::<View>().is_none()
            && value.downcast_object_ref::<Range>().is_none();
        match value.kind() {
            ValueKind::None => self.push("null"),
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Number => self.push(&value.to_string()),
            ValueKind::Map => self.object(value, depth),
            ValueKind::Seq | ValueKind::Iterable if is_json => {
                self.push("[")?;
                let mut is_first = true;
                for item in value.try_iter()?.checked() {
                    self.begin(is_first, depth + 1)?;
                    self.value(&item?, depth + 1)?;
                    is_first = false;
                }
                self.end(is_first, depth, "]")
            }
            kind => Err(bad_json(format!("a value of the type {kind} has no form in JSON"))),
        }
    }

    fn object(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let mut entries: Vec<(Value, Value)> = python::entries(value).collect();
        if self.sort_keys {
            python::sort(&mut entries, |a, b| python::compare(&a.0, &b.0))?;
        }
        self.push("{")?;
        let mut is_first = true;
        for (key, item) in entries {
            self.begin(is_first, depth + 1)?;
            match (key.as_str(), Number::of(&key), key.kind()) {
                (Some(key), ..) => self.string(key)?,
                (None, Some(Number::Real(real)), _) => self.string(&float(real))?,
                (None, Some(_), ValueKind::Bool) => {
                    self.string(if key.is_true() { "true" } else { "false" })?;
                }
                (None, Some(_), _) => self.string(&key.to_string())?,
                (None, None, ValueKind::None) => self.string("null")?,
                (None, None, kind) => {
                    return Err(bad_json(format!("{kind} cannot be the name of a field in JSON")));
                }
            }
            let separator = self.key.clone();
            self.push(&separator)?;
            self.value(&item, depth + 1)?;
            is_first = false;
        }
        self.end(is_first, depth, "}")
    }

    /// What comes before an item.
    fn begin(&mut self, is_first: bool, depth: usize) -> Result<(), Error> {
        if !is_first {
            let separator = self.item.clone();
            self.push(&separator)?;
        }
        self.new_line(depth)
    }

    /// What comes behind the last item.
    fn end(&mut self, is_empty: bool, depth: usize, bracket: &str) -> Result<(), Error> {
        if !is_empty {
            self.new_line(depth)?;
        }
        self.push(bracket)
    }

    fn new_line(&mut self, depth: usize) -> Result<(), Error> {
        let Some(indent) = self.indent.clone() else {
            return Ok(());
        };
        self.push("\n")?;
        (0..depth).try_for_each(|_| self.push(&indent))
    }

    fn string(&mut self, text: &str) -> Result<(), Error> {
        self.budget.spend(text.len() as u64)?;
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\x08' => self.text.push_str("\\b"),
                '\x0c' => self.text.push_str("\\f"),
                c if c < ' ' || self.ascii && !(' '..='~').contains(&c) => {
                    self.budget.spend(10)?;
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        self.text.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => self.text.push(c),
            }
        }
        self.text.push('"');
        Ok(())
    }
}

fn float(real: f64) -> String {
    if real.is_finite() {
        return python::float(real);
    }
    let text = if real.is_nan() { "NaN" } else { "Infinity" };
    format!("{}{text}", if real < 0.0 { "-" } else { "" })
}
