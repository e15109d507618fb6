//! Texts with places for values, in both of Python's ways: `'%5d' % x` and `'{:5}'.format(x)`.
//!
//! The engine formats one value in one place. Which value that is, and what of a place it does not
//! know, is found here.

use minijinja::formatting::{self, FormatStyle};
use minijinja::value::ValueKind;
use minijinja::{Error, Value};

use super::args;
use super::budget::{Budget, refuse};
use super::python::{self, Number};

/// The most digits that a width may have.
const MAX_DIGITS: usize = 4;

/// Formats a value in one place.
fn one(budget: &Budget, style: FormatStyle, place: &str, value: Value) -> Result<String, Error> {
    let digits = place.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
    if digits > MAX_DIGITS {
        return Err(refuse("a field of a format is too wide"));
    }
    budget.spend(10_u64.pow(MAX_DIGITS as u32) + budget.weigh(&value)?)?;
    formatting::format(style, place, &[value])
}

/// `text % values`. `named` are the values by name, if there are any: then a list or a dictionary may
/// have more than are used.
pub(super) fn printf(
    budget: &Budget,
    text: &str,
    values: &[Value],
    named: Option<&Value>,
) -> Result<Value, Error> {
    budget.spend(text.len() as u64)?;
    let mut written = String::new();
    let mut values = values.iter();
    let mut uses_names = false;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        written.push_str(before);
        let (name, after) = match after.strip_prefix('(') {
            None => (None, after),
            Some(after) => {
                let (name, after) =
                    after.split_once(')').ok_or_else(|| refuse("a `%(` of a format has no end"))?;
                (Some(name), after)
            }
        };
        let end = after.find(|c: char| !c.is_ascii_digit() && !" #+-.".contains(c));
        let end = end.ok_or_else(|| refuse("a `%` of a format has no kind"))?;
        let (flags, kind) = after.split_at(end);
        let mut chars = kind.chars();
        let kind = chars.next().unwrap_or_default();
        rest = chars.as_str();
        if kind == '%' {
            written.push('%');
            continue;
        }
        let value = match (name, named) {
            (Some(name), Some(named)) => {
                uses_names = true;
                let found = named.get_item(&Value::from(name))?;
                if found.is_undefined()
                    && !python::entries(named).any(|(key, _)| key.as_str() == Some(name))
                {
                    return Err(refuse(format!(
                        "the format has a place for `{name}`, and no value is named so"
                    )));
                }
                found
            }
            (Some(_), None) => return Err(refuse("a format with names needs a dictionary")),
            (None, _) => {
                let next =
                    values.next().ok_or_else(|| refuse("a format has more places than values"))?;
                next.clone()
            }
        };
        written.push_str(&printf_one(budget, flags, kind, value)?);
        budget.spend(written.len() as u64 / 64)?;
    }
    if !uses_names && named.is_none() && values.len() > 0 {
        return Err(refuse("`%` has more values than places"));
    }
    budget.spend(written.len() as u64)?;
    Ok(Value::from(written + rest))
}

/// One value of `%`.
fn printf_one(budget: &Budget, flags: &str, kind: char, value: Value) -> Result<String, Error> {
    budget.weigh(&value)?;
    let place = |flags: &str, kind: char| format!("%{flags}{kind}");
    match kind {
        's' => one(budget, FormatStyle::Printf, &place(flags, 's'), python::printed_value(&value)),
        'r' => one(budget, FormatStyle::Printf, &place(flags, 's'), python::repr(&value).into()),
        'a' => {
            let text: String = python::repr(&value)
                .chars()
                .map(|c| {
                    if c.is_ascii() {
                        c.to_string()
                    } else {
                        python::escaped(c)
                    }
                })
                .collect();
            one(budget, FormatStyle::Printf, &place(flags, 's'), text.into())
        }
        'd' | 'i' | 'u' => {
            let whole = match Number::of(&value) {
                Some(Number::Whole(whole)) => whole,
                Some(Number::Real(real)) if real.is_finite() && real.abs() < i128::MAX as f64 => {
                    real as i128
                }
                _ => {
                    return Err(refuse(format!(
                        "`%{kind}` needs a number, and not {}",
                        value.kind()
                    )));
                }
            };
            let (flags, digits) = flags.split_once('.').unwrap_or((flags, ""));
            let digits: usize = digits.parse().unwrap_or(0);
            if digits.to_string().len() > MAX_DIGITS {
                return Err(refuse("a field of a format is too wide"));
            }
            if whole.unsigned_abs().to_string().len() >= digits {
                return one(
                    budget,
                    FormatStyle::Printf,
                    &place(flags, 'd'),
                    Number::Whole(whole).into(),
                );
            }
            // Python fills a number up to the digits of its precision.
            let sign = match () {
                () if whole < 0 => "-",
                () if flags.contains('+') => "+",
                () if flags.contains(' ') => " ",
                () => "",
            };
            let flags = flags.replace(['+', ' ', '#'], "");
            let text = format!("{sign}{:0>digits$}", whole.unsigned_abs());
            one(budget, FormatStyle::Printf, &place(&flags, 's'), text.into())
        }
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => {
            let real = Number::of(&value).map(Number::real);
            let real = real.ok_or_else(|| {
                refuse(format!("`%{kind}` needs a number, and not {}", value.kind()))
            })?;
            one(budget, FormatStyle::Printf, &place(flags, kind), Value::from(real))
        }
        _ => one(budget, FormatStyle::Printf, &place(flags, kind), value),
    }
}

/// Where the values of a `str.format` are from.
struct Fields<'a> {
    budget: &'a Budget,
    positional: &'a [Value],
    named: Option<Value>,
    /// The next of the places without a name. None once a place has a number.
    next: Option<usize>,
    has_numbers: bool,
}

/// `text.format(...)`
pub(super) fn str_format(budget: &Budget, text: &str, args: &[Value]) -> Result<Value, Error> {
    let (positional, named) = args::split(args);
    let named = match named {
        None => None,
        Some(named) => {
            let names = named.args().map(|name| Ok((name.to_owned(), named.get::<Value>(name)?)));
            Some(Value::from_pairs(names.collect::<Result<Vec<(String, Value)>, Error>>()?))
        }
    };
    let mut fields = Fields { budget, positional, named, next: Some(0), has_numbers: false };
    fields.format(text, 0).map(Value::from)
}

/// `text.format_map(map)`
pub(super) fn str_format_map(budget: &Budget, text: &str, map: &Value) -> Result<Value, Error> {
    let named = Some(map.clone());
    let mut fields = Fields {
        budget,
        positional: &[],
        named,
        next: Some(0),
        has_numbers: false,
    };
    fields.format(text, 0).map(Value::from)
}

impl Fields<'_> {
    fn format(&mut self, text: &str, depth: usize) -> Result<String, Error> {
        if depth > 1 && text.contains('{') {
            return Err(refuse("the fields of a format lie too deep in each other"));
        }
        self.budget.spend(text.len() as u64)?;
        let mut written = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            written.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            let after = &rest[at + 1..];
            if let Some(after) = after.strip_prefix(brace) {
                written.push_str(brace);
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(refuse("a `}` of a format closes nothing"));
            }
            let end = field_end(after).ok_or_else(|| refuse("a `{` of a format has no end"))?;
            written.push_str(&self.field(&after[..end], depth)?);
            self.budget.spend(written.len() as u64 / 64)?;
            rest = &after[end + 1..];
        }
        self.budget.spend(written.len() as u64)?;
        Ok(written + rest)
    }

    /// One place: `name!conversion:form`.
    fn field(&mut self, field: &str, depth: usize) -> Result<String, Error> {
        let in_brackets =
            |at: usize| field[..at].matches('[').count() > field[..at].matches(']').count();
        let end = field.char_indices().find(|&(at, c)| matches!(c, '!' | ':') && !in_brackets(at));
        let (name, rest) = field.split_at(end.map_or(field.len(), |(at, _)| at));
        let (conversion, form) = match rest.strip_prefix('!') {
            Some(rest) => rest.split_once(':').unwrap_or((rest, "")),
            None => ("", rest.strip_prefix(':').unwrap_or("")),
        };
        let value = self.value(name)?;
        let form = self.format(form, depth + 1)?;
        self.budget.weigh(&value)?;
        let value = match conversion {
            "" => value,
            "s" => python::printed(&value).into(),
            "r" => python::repr(&value).into(),
            _ => return Err(refuse(format!("`!{conversion}` is no conversion of a format"))),
        };
        self.formatted(&form, value)
    }

    fn formatted(&self, form: &str, value: Value) -> Result<String, Error> {
        let engine = |form: &str, value: Value| {
            one(self.budget, FormatStyle::StrFormat, &format!("{{:{form}}}"), value)
        };
        if form.is_empty() {
            return Ok(python::printed(&value));
        }
        if value.as_str().is_none() && Number::of(&value).is_none() {
            return Err(refuse(format!(
                "a value of the type {} has no form in a format",
                value.kind()
            )));
        }
        match (form.chars().last(), Number::of(&value)) {
            (Some('%'), Some(number)) => {
                let form = &form[..form.len() - 1];
                let places =
                    form.rsplit_once('.').map_or(6, |(_, places)| places.parse().unwrap_or(6));
                if places > 999 {
                    return Err(refuse("a field of a format is too wide"));
                }
                let text = format!("{:.places$}%", number.real() * 100.0);
                let width = form.split_once('.').map_or(form, |(width, _)| width);
                // A number is at the right.
                let aligned = width.chars().take(2).any(|c| "<>=^".contains(c));
                let width = if aligned || width.is_empty() {
                    width.to_owned()
                } else {
                    format!(">{width}")
                };
                if width.is_empty() {
                    Ok(text)
                } else {
                    engine(&width, text.into())
                }
            }
            (Some('n'), Some(number)) => {
                let kind = if matches!(number, Number::Whole(_)) {
                    'd'
                } else {
                    'g'
                };
                engine(&format!("{}{kind}", &form[..form.len() - 1]), value)
            }
            (_, Some(number)) if value.kind() == ValueKind::Bool => engine(form, number.into()),
            _ => engine(form, value),
        }
    }

    /// The value of a name such as `0.a[b]`.
    fn value(&mut self, name: &str) -> Result<Value, Error> {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (first, mut path) = name.split_at(end);
        let mut value = if first.is_empty() {
            let at = self.next.filter(|_| !self.has_numbers);
            let at = at.ok_or_else(|| refuse("a format has places with and without numbers"))?;
            self.next = Some(at + 1);
            self.positional.get(at).cloned()
        } else if let Ok(at) = first.parse::<usize>() {
            if self.next != Some(0) {
                return Err(refuse("a format has places with and without numbers"));
            }
            self.has_numbers = true;
            self.positional.get(at).cloned()
        } else {
            let named = self.named.as_ref().map(|named| named.get_item(&Value::from(first)));
            named.transpose()?.filter(|value| !value.is_undefined())
        }
        .ok_or_else(|| refuse(format!("the format has a place `{first}`, and no value for it")))?;
        while !path.is_empty() {
            let (key, rest) = match path.strip_prefix('[') {
                Some(rest) => {
                    rest.split_once(']').ok_or_else(|| refuse("a `[` of a format has no end"))?
                }
                None => {
                    let rest = &path[1..];
                    rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()))
                }
            };
            let key = match key.parse::<u64>() {
                Ok(index) if path.starts_with('[') => Value::from(index),
                _ => Value::from(key),
            };
            value = value.get_item(&key)?;
            path = rest;
        }
        Ok(value)
    }
}

/// Where a field ends that begins here, of which others may be a part.
fn field_end(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_a_width_of_at_most_four_digits() {
        let budget = Budget::new();
        for format in ["%12345d", "%.12345d", "%99999s", "%(a)12345d"] {
            let named = Value::from_pairs([("a", 1)]);
            printf(&budget, format, std::slice::from_ref(&named), Some(&named)).unwrap_err();
        }
        for format in ["{:12345}", "{:.12345f}", "{0:{1}}", "{:.1234%}"] {
            let args = [Value::from(1.5), Value::from(100_000)];
            str_format(&budget, format, &args).unwrap_err();
        }
    }
}
