//! Jinja's filters of texts that the engine lacks.

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs, from_args};
use minijinja::{Error, Value};

use super::budget::{Budget, refuse};
use super::python;
use super::strings;

pub(super) fn all(budget: &Budget) -> [(&'static str, Value); 5] {
    let (filling, quoting) = (budget.clone(), budget.clone());
    [
        (
            "string",
            Value::from_function(|value: &Value| match value.as_str() {
                Some(_) => value.clone(),
                None => Value::from(python::printed(value)),
            }),
        ),
        ("wordcount", Value::from_function(count_words)),
        (
            "truncate",
            Value::from_function(|text: &str, options: Rest<ValueOrKwargs>| {
                truncate(text, &options.into_values())
            }),
        ),
        (
            "center",
            Value::from_function(move |text: &str, options: Rest<ValueOrKwargs>| {
                let options = options.into_values();
                let (width, named): (Option<usize>, Kwargs) = from_args(&options)?;
                let width = width.or(named.get("width")?).unwrap_or(80);
                named.assert_all_used()?;
                strings::center(&filling, text, width, ' ')
            }),
        ),
        (
            "urlencode",
            Value::from_function(move |value: &Value| urlencode(&quoting, value)),
        ),
    ]
}

/// The runs of letters, digits and `_`.
fn count_words(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).count()
}

/// A text cut to `length` characters, if it has more than `leeway` more.
fn truncate(text: &str, options: &[Value]) -> Result<String, Error> {
    type Options = (Option<usize>, Option<bool>, Option<String>, Option<usize>, Kwargs);
    let (length, killwords, end, leeway, named): Options = from_args(options)?;
    let length = length.or(named.get("length")?).unwrap_or(255);
    let killwords = killwords.or(named.get("killwords")?).unwrap_or(false);
    let end = end.or(named.get("end")?).unwrap_or_else(|| "...".to_owned());
    let leeway = leeway.or(named.get("leeway")?).unwrap_or(5);
    named.assert_all_used()?;
    let kept = length.checked_sub(end.chars().count());
    let kept = kept.ok_or_else(|| refuse("a text is truncated to less than its end takes"))?;
    if text.chars().nth(length.saturating_add(leeway)).is_none() {
        return Ok(text.to_owned());
    }
    let cut = text.char_indices().nth(kept).map_or(text.len(), |(index, _)| index);
    let kept = &text[..cut];
    let words = kept.rsplit_once(' ').map_or(kept, |(words, _)| words);
    Ok(if killwords { kept } else { words }.to_owned() + &end)
}

/// A text as a part of a URL, or a dictionary, or a list of pairs, as its query.
fn urlencode(budget: &Budget, value: &Value) -> Result<String, Error> {
    let is_text = value.as_str().is_some();
    let is_query = matches!(value.kind(), ValueKind::Map | ValueKind::Seq | ValueKind::Iterable);
    if is_text || !is_query {
        return quote(budget, value, b"/");
    }
    let part = |value: &Value| -> Result<String, Error> {
        Ok(quote(budget, value, b"")?.replace("%20", "+"))
    };
    let mut query = Vec::new();
    let pairs = value.as_object().filter(|_| value.kind() == ValueKind::Map);
    match pairs.and_then(|map| map.try_iter_pairs()) {
        Some(pairs) => {
            for (key, item) in pairs {
                query.push(format!("{}={}", part(&key)?, part(&item)?));
            }
        }
        None => {
            for pair in value.try_iter()?.checked() {
                let pair: Vec<Value> = pair?.try_iter()?.collect();
                let [key, item] = &pair[..] else {
                    return Err(refuse("a query is made of pairs of a name and a value"));
                };
                query.push(format!("{}={}", part(key)?, part(item)?));
            }
        }
    }
    Ok(query.join("&"))
}

/// Percent-encodes all bytes but letters, digits, `-._~` and those of `safe`.
fn quote(budget: &Budget, value: &Value, safe: &[u8]) -> Result<String, Error> {
    let text = python::printed(value);
    budget.spend_times(text.len(), 3)?;
    let mut quoted = String::with_capacity(text.len());
    for &byte in text.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || safe.contains(&byte) {
            quoted.push(byte.into());
        } else {
            quoted.push_str(&format!("%{byte:02X}"));
        }
    }
    Ok(quoted)
}
