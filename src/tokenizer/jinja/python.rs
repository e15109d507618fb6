//! Values as Python compares, converts and prints them.

use std::cmp::Ordering;
use std::fmt::Write;

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::budget::refuse;
use super::namespace::Namespace;
use super::objects::{Group, Range, View};

/// A number: a boolean is one too.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Whole(i128),
    Real(f64),
}

impl Number {
    pub(super) fn of(value: &Value) -> Option<Self> {
        match value.kind() {
            ValueKind::Bool => Some(Self::Whole(value.is_true().into())),
            ValueKind::Number if value.is_integer() => {
                i128::try_from(value.clone()).ok().map(Self::Whole)
            }
            ValueKind::Number => f64::try_from(value.clone()).ok().map(Self::Real),
            _ => None,
        }
    }

    pub(super) fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }
}

impl From<Number> for Value {
    /// In the type in which the engine is fastest.
    fn from(number: Number) -> Self {
        match number {
            Number::Real(real) => Self::from(real),
            Number::Whole(whole) => {
                i64::try_from(whole).map_or_else(|_| Self::from(whole), Self::from)
            }
        }
    }
}

/// The whole number in a value, if it is one.
pub(super) fn integer(value: &Value) -> Option<i128> {
    match Number::of(value) {
        Some(Number::Whole(whole)) => Some(whole),
        _ => None,
    }
}

/// The sum of two values.
pub(super) fn add(a: &Value, b: &Value) -> Result<Value, Error> {
    match (Number::of(a), Number::of(b)) {
        (Some(Number::Whole(a)), Some(Number::Whole(b))) => {
            let sum = a.checked_add(b).map(|sum| Number::Whole(sum).into());
            sum.ok_or_else(|| refuse("unable to calculate a sum so large"))
        }
        (Some(a), Some(b)) => Ok(Value::from(a.real() + b.real())),
        _ if is_list(a) && is_list(b) => {
            Ok(a.try_iter()?.chain(b.try_iter()?).collect::<Vec<Value>>().into())
        }
        _ => match (a.as_str(), b.as_str()) {
            (Some(a), Some(b)) => Ok(Value::from(a.to_owned() + b)),
            _ => Err(refuse(format!("{} and {} cannot be added", a.kind(), b.kind()))),
        },
    }
}

fn is_list(value: &Value) -> bool {
    value.kind() == ValueKind::Seq && !value.is_tuple()
}

/// Which of two values is less.
///
/// # Errors
/// Values that have no order, such as a text and a number.
pub(super) fn compare(a: &Value, b: &Value) -> Result<Ordering, Error> {
    if let (Some(a), Some(b)) = (Number::of(a), Number::of(b)) {
        return Ok(match (a, b) {
            (Number::Whole(a), Number::Whole(b)) => a.cmp(&b),
            // What is no number is neither less nor more.
            (a, b) => a.real().partial_cmp(&b.real()).unwrap_or(Ordering::Equal),
        });
    }
    if let (Some(a), Some(b)) = (a.as_str(), b.as_str()) {
        return Ok(a.cmp(b));
    }
    if a.kind() == ValueKind::Seq && b.kind() == ValueKind::Seq && a.is_tuple() == b.is_tuple() {
        let (mut left, mut right) = (a.try_iter()?, b.try_iter()?);
        loop {
            match (left.next(), right.next()) {
                (Some(a), Some(b)) if a == b => {}
                (Some(a), Some(b)) => return compare(&a, &b),
                (a, b) => return Ok(a.is_some().cmp(&b.is_some())),
            }
        }
    }
    Err(refuse(format!("{} and {} have no order", a.kind(), b.kind())))
}

/// Sorts, and keeps the order of equal items. Other than the sort of Rust it bears an order that
/// contradicts itself, as numbers have with what is no number.
pub(super) fn sort<T>(
    items: &mut Vec<T>,
    compare: impl Fn(&T, &T) -> Result<Ordering, Error>,
) -> Result<(), Error> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for run in order.chunks(2 * width) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let ([a, more_left @ ..], [b, more_right @ ..]) = (left, right) {
                if compare(&items[*b], &items[*a])? == Ordering::Less {
                    merged.push(*b);
                    right = more_right;
                } else {
                    merged.push(*a);
                    left = more_left;
                }
            }
            merged.extend(left.iter().chain(right));
        }
        order = merged;
        width *= 2;
    }
    let mut taken: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    items.extend(order.into_iter().filter_map(|at| taken[at].take()));
    Ok(())
}

/// White space: as Rust has it, and four control characters that separate parts of a file.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// Whether `repr` writes a character as it is.
pub(super) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // Rust escapes the same characters, and one that extends the character before only at the start
    // of a text.
    let text = String::from_iter(['a', c]);
    text.escape_debug().nth(1) == Some(c)
}

/// A float as in Python's `repr`: with an exponent below 1e-4 and from 1e16 on.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    match exponent(number) {
        None => format!("{number:?}"),
        Some((digits, exponent)) => format!("{digits}e{exponent:+03}"),
    }
}

/// The digits and the exponent of a float that is written with one.
fn exponent(number: f64) -> Option<(String, i32)> {
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e')?;
    let exponent = exponent.parse().ok()?;
    let plain = -4..16;
    (!plain.contains(&exponent)).then(|| (digits.to_owned(), exponent))
}

/// A value as Python prints it. The caller has charged a visit of all of the value.
pub(super) fn printed(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None if value.is_undefined() => String::new(),
        None => repr(value),
    }
}

/// The same as a value: a text stays the one that it is.
pub(super) fn printed_value(value: &Value) -> Value {
    if value.as_str().is_some() {
        value.clone()
    } else {
        Value::from(printed(value))
    }
}

/// A value as Python's `repr` writes it.
pub(super) fn repr(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Writes a value. Writing to a `String` cannot fail.
fn write(value: &Value, text: &mut String) {
    if let Some(Number::Real(number)) = Number::of(value) {
        text.push_str(&float(number));
        return;
    }
    if let Some(view) = value.downcast_object_ref::<View>() {
        let _ = write!(text, "dict_{}(", view.name);
        write_items(["[", "]"], view.items.iter().cloned(), text);
        text.push(')');
        return;
    }
    if let Some(range) = value.downcast_object_ref::<Range>() {
        let _ = write!(text, "{range}");
        return;
    }
    match value.kind() {
        ValueKind::Undefined => text.push_str("Undefined"),
        ValueKind::String => write_text(value.as_str().unwrap_or_default(), text),
        ValueKind::Map if is_loop(value) => {
            let part = |name| value.get_attr(name).unwrap_or_default();
            let _ = write!(text, "<LoopContext {}/{}>", part("index"), part("length"));
        }
        ValueKind::Map => {
            let is_namespace = value.downcast_object_ref::<Namespace>().is_some();
            text.push_str(if is_namespace { "<Namespace {" } else { "{" });
            for (i, (key, item)) in entries(value).enumerate() {
                text.push_str(if i > 0 { ", " } else { "" });
                write(&key, text);
                text.push_str(": ");
                write(&item, text);
            }
            text.push_str(if is_namespace { "}>" } else { "}" });
        }
        ValueKind::Seq => {
            let is_tuple = value.is_tuple() || value.downcast_object_ref::<Group>().is_some();
            let brackets = match (is_tuple, value.len()) {
                (true, Some(1)) => ["(", ",)"],
                (true, _) => ["(", ")"],
                (false, _) => ["[", "]"],
            };
            write_items(brackets, items(value), text);
        }
        _ => drop(write!(text, "{value:?}")),
    }
}

fn write_items([open, close]: [&str; 2], items: impl Iterator<Item = Value>, text: &mut String) {
    text.push_str(open);
    for (i, item) in items.enumerate() {
        text.push_str(if i > 0 { ", " } else { "" });
        write(&item, text);
    }
    text.push_str(close);
}

/// A text in quotes: in double ones, if only single ones are in it.
fn write_text(value: &str, text: &mut String) {
    let quote = if value.contains('\'') && !value.contains('"') {
        '"'
    } else {
        '\''
    };
    text.push(quote);
    for c in value.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c == quote => text.extend(['\\', c]),
            c if is_printable(c) => text.push(c),
            c => text.push_str(&escaped(c)),
        }
    }
    text.push(quote);
}

/// A character by its number.
pub(super) fn escaped(c: char) -> String {
    match u32::from(c) {
        code @ ..0x100 => format!("\\x{code:02x}"),
        code @ ..0x10000 => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

/// Whether a value is the variable `loop`, whose type the engine keeps to itself.
fn is_loop(value: &Value) -> bool {
    let has = |name| value.get_attr(name).is_ok_and(|part| !part.is_undefined());
    value.len() != Some(0)
        && has("revindex0")
        && has("depth0")
        && value.to_string().starts_with("<loop")
}

/// The entries of a dictionary.
pub(super) fn entries(value: &Value) -> impl Iterator<Item = (Value, Value)> {
    value.as_object().and_then(|map| map.try_iter_pairs()).into_iter().flatten()
}

/// The items of a list.
fn items(value: &Value) -> impl Iterator<Item = Value> {
    value.try_iter().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Python 3 prints them.
    #[test]
    fn floats_have_an_exponent_where_they_have_one_in_python() {
        for (number, expected) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.5e-7, "-1.5e-07"),
            (1e15, "1000000000000000.0"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (1e16, "1e+16"),
            (9999999999999998.0, "9999999999999998.0"),
            (1e100, "1e+100"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float(number), expected);
        }
    }

    #[test]
    fn texts_are_quoted_as_in_python() {
        for (text, expected) in [
            ("don't", "\"don't\""),
            ("'\"", "'\\'\"'"),
            (
                "a\u{a0}\u{200b}\u{301}e\u{301}é😀\u{10ffff}",
                "'a\\xa0\\u200b\u{301}e\u{301}é😀\\U0010ffff'",
            ),
        ] {
            assert_eq!(repr(&Value::from(text)), expected);
        }
    }
}
