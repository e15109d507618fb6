//! Integers that 64 bits don't hold.
//!
//! `serde_json` reads such an integer as a float. A template would then write 1e+20 where Python writes
//! 100000000000000000000, and a schema would compare another number. So we refuse the request instead.

use std::cell::LazyCell;
use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::error::ApiError;
use super::json::VERBATIM;

/// From here on, a float may have been an integer with more digits.
const HUGE: f64 = (1_u64 << 63) as f64;

/// Checks the fields of a body whose numbers must stay as they are written, and the arguments of calls, which
/// are JSON within a text.
///
/// # Errors
/// The first integer that 64 bits don't hold, with its place.
pub(super) fn check(body: &[u8], object: &Value) -> Result<(), ApiError> {
    let sent = LazyCell::new(|| {
        let integers = large_integers(str::from_utf8(body).unwrap_or_default());
        integers.filter_map(|digits| Some((bits(digits.parse().ok()?), digits))).collect()
    });
    let fields = object.as_object().into_iter().flatten();
    let mut verbatim = fields.filter(|(name, _)| VERBATIM.contains(&name.as_str()));
    let Some((mut place, digits)) =
        verbatim.find_map(|(name, value)| Some(within(name, find(&sent, name, value)?)))
    else {
        return Ok(());
    };
    place.remove(0);
    let digits = slowburn::outside::short(digits);
    let message = format!(
        "{place} has the integer {digits}, which 64 bits don't hold: send it as a text, in quotes"
    );
    Err(ApiError::invalid(place, message))
}

/// The integers that were sent, by the bits of the floats that they were read as.
type Sent<'a> = HashMap<u64, &'a str>;

/// Where an integer is, and its digits.
type Found = (String, String);

fn bits(float: f64) -> u64 {
    float.to_bits()
}

/// Finds the first in the value of the field `name`. Its place is written on the way back: a body may have many
/// values behind long names.
fn find<'a, F>(sent: &LazyCell<Sent<'a>, F>, name: &str, value: &Value) -> Option<Found>
where
    F: FnOnce() -> Sent<'a>,
{
    let found = |digits: &str| (String::new(), digits.to_owned());
    match value {
        Value::Number(number) => {
            let float = number.as_f64().filter(|float| number.is_f64() && float.abs() >= HUGE)?;
            sent.get(&bits(float)).map(|digits| found(digits))
        }
        Value::String(text) if name == "arguments" => {
            let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
            large_integers(text).next().filter(|_| is_json).map(found)
        }
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let (place, digits) = find(sent, name, item)?;
            Some((format!("[{index}]{place}"), digits))
        }),
        Value::Object(fields) => {
            fields.iter().find_map(|(name, value)| Some(within(name, find(sent, name, value)?)))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

fn within(name: &str, (place, digits): Found) -> Found {
    (format!(".{name}{place}"), digits)
}

/// The integers in a JSON text that 64 bits don't hold.
fn large_integers(json: &str) -> impl Iterator<Item = &str> {
    // What stands between quotes is text, but for a quote behind a backslash.
    let (mut is_text, mut is_escaped) = (false, false);
    let outside = json.split(move |c: char| {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_text,
            '"' => is_text = !is_text,
            _ => {}
        }
        is_text || !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.'))
    });
    outside.filter(|token| {
        let digits = token.strip_prefix('-').unwrap_or(token);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_integer && token.parse::<i64>().is_err() && token.parse::<u64>().is_err()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_beyond_64_bits_is_refused_with_its_place() {
        for (body, place) in [
            (
                r#"{"tools": [{"function": {"parameters": {"minimum": 18446744073709551616}}}]}"#,
                Some("tools[0].function.parameters.minimum"),
            ),
            (
                r#"{"chat_template_kwargs": {"id": -9223372036854775809}}"#,
                Some("chat_template_kwargs.id"),
            ),
            (
                r#"{"messages": [{"content": "\"1\\"}, {"tool_calls": [{"function": {"arguments": {"id": 100000000000000000000}}}]}]}"#,
                Some("messages[1].tool_calls[0].function.arguments.id"),
            ),
            (
                r#"{"messages": [{"tool_calls": [{"function": {"arguments": "{\"id\": [1, 123456789012345678901234567890]}"}}]}]}"#,
                Some("messages[0].tool_calls[0].function.arguments"),
            ),
            (
                r#"{"input": [{"arguments": "{\"id\":-123456789012345678901234567890}"}]}"#,
                Some("input[0].arguments"),
            ),
            // These fit, are floats, or are texts.
            (
                r#"{"messages": [18446744073709551615, -9223372036854775808, 1e20, 100000000000000000000.0]}"#,
                None,
            ),
            (
                r#"{"messages": [{"content": "123456789012345678901", "arguments": "{\"a\": \"\\\"123456789012345678901\"}"}]}"#,
                None,
            ),
            (r#"{"messages": [{"arguments": "123456789012345678901 and so on"}]}"#, None),
            (r#"{"seed": 123456789012345678901}"#, None),
        ] {
            let object = serde_json::from_str(body).unwrap();
            let refused = check(body.as_bytes(), &object).err();
            let param = refused.map(|error| error.body().error.param);
            assert_eq!(param, place.map(|place| Some(place.to_owned())), "{body}");
        }
    }
}
