//! Numbers as Python writes them.
//!
//! The engine writes all but one kind of values as Python does. That one is a float of very large or
//! small magnitude, which Python writes with an exponent.

use std::fmt::Write;

use minijinja::Value;
use minijinja::value::ValueKind;

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

/// A value as text, if the engine would write it otherwise than Python. The caller has charged a
/// visit of all of the value.
pub(super) fn text(value: &Value) -> Option<String> {
    differs(value).then(|| {
        let mut text = String::new();
        write(value, &mut text);
        text
    })
}

/// A value as Python prints it.
pub(super) fn printed(value: &Value) -> String {
    text(value).unwrap_or_else(|| value.to_string())
}

/// The float in a value, if it is one.
fn as_float(value: &Value) -> Option<f64> {
    let is_float = value.kind() == ValueKind::Number && !value.is_integer();
    is_float.then(|| f64::try_from(value.clone()).ok()).flatten()
}

/// Whether a value holds a float that the engine writes otherwise.
fn differs(value: &Value) -> bool {
    match value.kind() {
        ValueKind::Number => {
            as_float(value).is_some_and(|number| !number.is_finite() || exponent(number).is_some())
        }
        ValueKind::Map => entries(value).any(|(key, item)| differs(&key) || differs(&item)),
        ValueKind::Seq => items(value).any(|item| differs(&item)),
        _ => false,
    }
}

fn write(value: &Value, text: &mut String) {
    if let Some(number) = as_float(value) {
        text.push_str(&float(number));
        return;
    }
    match value.kind() {
        ValueKind::Map => {
            text.push('{');
            for (i, (key, item)) in entries(value).enumerate() {
                text.push_str(if i > 0 { ", " } else { "" });
                write(&key, text);
                text.push_str(": ");
                write(&item, text);
            }
            text.push('}');
        }
        ValueKind::Seq => {
            let [open, close] = match (value.is_tuple(), value.len()) {
                (true, Some(1)) => ["(", ",)"],
                (true, _) => ["(", ")"],
                (false, _) => ["[", "]"],
            };
            text.push_str(open);
            for (i, item) in items(value).enumerate() {
                text.push_str(if i > 0 { ", " } else { "" });
                write(&item, text);
            }
            text.push_str(close);
        }
        // In quotes, if it is a text. Writing to a `String` cannot fail.
        _ => drop(write!(text, "{value:?}")),
    }
}

fn entries(value: &Value) -> impl Iterator<Item = (Value, Value)> {
    value.as_object().and_then(|map| map.try_iter_pairs()).into_iter().flatten()
}

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
    fn a_value_is_written_here_only_where_that_changes_something() {
        let list = Value::from(vec![Value::from(1e20), Value::from("don't")]);
        assert_eq!(text(&list).unwrap(), "[1e+20, \"don't\"]");
        assert_eq!(text(&Value::from(vec![1.5, 2.0])), None);
        assert_eq!(text(&Value::from("1e20")), None);
    }
}
