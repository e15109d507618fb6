//! Jinja's filters of numbers.

use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::args::{self, bind, is_true, required};
use super::budget::{Budget, refuse};
use super::library::OwnFilter;
use super::python::{self, Number};

pub(super) const ALL: [(&str, OwnFilter); 5] = [
    ("abs", abs),
    ("filesizeformat", file_size),
    ("float", float),
    ("int", int),
    ("round", round),
];

fn abs(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value] = bind(values, ["x"])?;
    let value = required(value)?;
    match Number::of(&value) {
        Some(Number::Whole(whole)) => {
            let absolute = whole.checked_abs().map(|whole| Number::Whole(whole).into());
            absolute.ok_or_else(|| refuse("a number is too large"))
        }
        Some(Number::Real(real)) => Ok(Value::from(real.abs())),
        None => Err(refuse(format!("{} has no absolute value", value.kind()))),
    }
}

/// A number in a text as Python reads it: with white space around it, and `_` between digits.
fn digits(text: &str) -> Option<String> {
    let text = text.trim_matches(python::is_space);
    let bytes = text.as_bytes();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    let is_right = |(at, byte): (usize, &u8)| {
        *byte != b'_' || is_digit(at.checked_sub(1)) && is_digit(Some(at + 1))
    };
    bytes.iter().enumerate().all(is_right).then(|| text.replace('_', ""))
}

pub(super) fn parse_float(text: &str) -> Option<f64> {
    let text = digits(text)?;
    // Rust reads the same, `inf` and `nan` included.
    text.parse().ok()
}

fn parse_int(text: &str, base: i64) -> Option<i128> {
    let text = digits(text)?;
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(&text)),
    };
    let lower = digits.to_ascii_lowercase();
    let prefixed = |prefix| lower.strip_prefix(prefix);
    let (digits, base) = match base {
        2 => (prefixed("0b").unwrap_or(&lower), 2),
        8 => (prefixed("0o").unwrap_or(&lower), 8),
        16 => (prefixed("0x").unwrap_or(&lower), 16),
        0 => match (prefixed("0b"), prefixed("0o"), prefixed("0x")) {
            (Some(digits), ..) => (digits, 2),
            (_, Some(digits), _) => (digits, 8),
            (.., Some(digits)) => (digits, 16),
            // A leading zero is no longer octal, and refused.
            _ if lower.starts_with('0') && lower.bytes().any(|byte| byte != b'0') => return None,
            _ => (lower.as_str(), 10),
        },
        _ => (lower.as_str(), u32::try_from(base).ok()?),
    };
    if !(2..=36).contains(&base) || digits.starts_with(['+', '-']) {
        return None;
    }
    i128::from_str_radix(&format!("{sign}{digits}"), base).ok()
}

/// The whole part of a float.
fn truncated(real: f64) -> Result<i128, Error> {
    let is_whole = real.is_finite() && real.abs() < i128::MAX as f64;
    if is_whole {
        Ok(real as i128)
    } else {
        Err(refuse(format!("{real} is no whole number")))
    }
}

fn int(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, default, base] = bind(values, ["value", "default", "base"])?;
    let (value, base) = (required(value)?, args::integer_or(base, 10)?);
    let default = || default.unwrap_or_else(|| Value::from(0));
    match (Number::of(&value), value.as_str()) {
        (Some(Number::Whole(whole)), _) => Ok(Number::Whole(whole).into()),
        (Some(Number::Real(real)), _) if real.is_nan() => Ok(default()),
        (Some(Number::Real(real)), _) => truncated(real).map(|whole| Number::Whole(whole).into()),
        (None, Some(text)) => {
            let whole = parse_int(text, base)
                .or_else(|| parse_float(text).and_then(|real| truncated(real).ok()));
            Ok(whole.map_or_else(default, |whole| Number::Whole(whole).into()))
        }
        (None, None) if value.is_undefined() => Err(refuse("an undefined value is no number")),
        (None, None) => Ok(default()),
    }
}

fn float(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, default] = bind(values, ["value", "default"])?;
    let value = required(value)?;
    if value.is_undefined() {
        return Err(refuse("an undefined value is no number"));
    }
    let real = match value.as_str() {
        Some(text) => parse_float(text),
        None => Number::of(&value).map(Number::real),
    };
    Ok(real.map_or_else(|| default.unwrap_or_else(|| Value::from(0.0)), Value::from))
}

fn round(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, precision, method] = bind(values, ["value", "precision", "method"])?;
    let (value, precision) = (required(value)?, args::integer_or(precision, 0)?);
    let precision = i32::try_from(precision).map_err(|_| refuse("a precision is too large"))?;
    let method = method.unwrap_or_else(|| Value::from("common"));
    let Some(number) = Number::of(&value) else {
        return Err(refuse(format!("{} cannot be rounded", value.kind())));
    };
    // The engine knows how halves are rounded, and gives back whole numbers as they are.
    let value = match (method.as_str(), number) {
        (Some("ceil" | "floor"), number) => Value::from(number.real()),
        (_, number) => Value::from(number),
    };
    minijinja::filters::round(value, Some(precision), method.as_str(), no_names())
}

fn no_names() -> minijinja::value::Kwargs {
    std::iter::empty::<(String, Value)>().collect()
}

fn file_size(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, binary] = bind(values, ["value", "binary"])?;
    let value = required(value)?;
    let bytes = match (value.as_str(), value.kind()) {
        (Some(text), _) => parse_float(text),
        (None, ValueKind::Number | ValueKind::Bool) => Number::of(&value).map(Number::real),
        _ => None,
    };
    let bytes = bytes.ok_or_else(|| refuse(format!("{} is no size", value.kind())))?;
    let (base, units) = if is_true(binary.as_ref()) {
        (1024.0_f64, ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"])
    } else {
        (1000.0, ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"])
    };
    if bytes == 1.0 {
        return Ok(Value::from("1 Byte"));
    }
    if bytes < base {
        return Ok(Value::from(format!("{} Bytes", bytes as i64)));
    }
    let mut unit = base;
    let mut units = units.iter().peekable();
    while let Some(name) = units.next() {
        unit *= base;
        if bytes < unit || units.peek().is_none() {
            return Ok(Value::from(format!("{:.1} {name}", base * bytes / unit)));
        }
    }
    Ok(value)
}
