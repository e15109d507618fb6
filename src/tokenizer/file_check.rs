//! Limits on `tokenizer.json`. The crate `tokenizers` trusts the file: some files make it panic,
//! which its callers catch; others make it allocate without bound or never return, which is refused
//! here.

use std::fmt::{self, Formatter};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The largest factor by which all replacements together may lengthen a text. Published files reach
/// three: a space becomes `▁`.
const MAX_GROWTH: usize = 100;

/// The longest replacement text, in bytes.
const MAX_INSERTED: usize = 1000;

/// The most steps in a component, and the most pieces in a template.
const MAX_STEPS: usize = 1000;

/// The components that change text, and how many tokens there are; other fields are ignored.
#[derive(Deserialize)]
struct Parts {
    #[serde(default)]
    model: Model,
    #[serde(default)]
    added_tokens: Count,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    #[serde(default)]
    decoder: Value,
}

#[derive(Deserialize, Default)]
struct Model {
    #[serde(default)]
    vocab: Count,
}

/// The number of entries of an object or of a list, which are skipped.
#[derive(Default)]
struct Count(usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Counting)
    }
}

struct Counting;

impl<'de> Visitor<'de> for Counting {
    type Value = Count;

    fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Count, A::Error> {
        let mut count = 0;
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Count(count))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Count, A::Error> {
        let mut count = 0;
        while list.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Count(count))
    }
}

/// Refuses a file that could hang or panic. The error names the field and the problem.
///
/// Returns the number of its tokens. Those that are in the vocabulary and among the added ones count
/// once.
pub(super) fn check(json: &[u8]) -> Result<usize, String> {
    let parts: Parts = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    for (name, part) in [
        ("normalizer", &parts.normalizer),
        ("pre_tokenizer", &parts.pre_tokenizer),
        ("post_processor", &parts.post_processor),
        ("decoder", &parts.decoder),
    ] {
        check_part(part).map_err(|problem| format!("in `{name}`, {problem}"))?;
    }
    Ok(parts.model.vocab.0.max(parts.added_tokens.0))
}

fn check_part(part: &Value) -> Result<(), String> {
    let mut steps = Vec::new();
    collect_steps(part, &mut steps);
    if steps.len() > MAX_STEPS {
        return Err(format!("there are more than {MAX_STEPS} steps"));
    }
    let mut growth: usize = 1;
    for step in steps {
        growth = growth.saturating_mul(growth_of(step)?);
        check_step(step)?;
    }
    if growth <= MAX_GROWTH {
        Ok(())
    } else {
        Err(format!(
            "the replacements can make a text {growth} times longer, but {MAX_GROWTH} is the limit"
        ))
    }
}

/// Collects all objects at any depth: steps may be nested, and may lack a `type`.
fn collect_steps<'a>(value: &'a Value, steps: &mut Vec<&'a Map<String, Value>>) {
    match value {
        Value::Object(fields) => {
            steps.push(fields);
            fields.values().for_each(|value| collect_steps(value, steps));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_steps(value, steps)),
        _ => {}
    }
}

/// The largest factor by which a step may lengthen a text.
fn growth_of(step: &Map<String, Value>) -> Result<usize, String> {
    let text = |name| step.get(name).and_then(Value::as_str);
    // These decoders replace each match by a space. An empty pattern matches between any two
    // characters.
    if text("suffix") == Some("") || text("word_delimiter_token") == Some("") {
        return Ok(2);
    }
    let (Some(pattern), Some(content)) = (step.get("pattern"), text("content")) else {
        return Ok(1);
    };
    if content.len() > MAX_INSERTED {
        return Err(format!("`content` has more than {MAX_INSERTED} bytes"));
    }
    let fixed = pattern.get("String").and_then(Value::as_str);
    let regex = pattern.get("Regex").and_then(Value::as_str);
    match (fixed, regex) {
        (Some(""), _) | (_, Some("")) => Err("`pattern` is empty".to_owned()),
        (Some(fixed), _) => Ok(content.len().div_ceil(fixed.len()).max(1)),
        // A regex may match empty text between any two characters.
        (None, Some(_)) => Ok(content.len() + 1),
        (None, None) => Ok(1),
    }
}

fn check_step(step: &Map<String, Value>) -> Result<(), String> {
    if step.get("length").is_some_and(|length| length.as_u64() == Some(0)) {
        return Err("`length` is 0, but must be 1 or greater".to_owned());
    }
    if step.get("prepend").and_then(Value::as_str).is_some_and(|text| text.len() > MAX_INSERTED) {
        return Err(format!("`prepend` has more than {MAX_INSERTED} bytes"));
    }
    // The decoder subtracts `stop` from the length of a text, which may be 0.
    if let (Some(_), Some(stop)) = (step.get("start"), step.get("stop"))
        && stop.as_u64().is_some_and(|stop| stop > 0)
        && step.contains_key("content")
    {
        return Err("`stop` is not 0, and the end of a text cannot be stripped".to_owned());
    }
    if let Some(table) = step.get("precompiled_charsmap").and_then(Value::as_str) {
        check_charsmap(table)?;
    }
    match step.get("single").and_then(Value::as_array) {
        Some(pieces) => check_template(pieces, step.get("special_tokens")),
        None => Ok(()),
    }
}

/// The table begins with its length, which the crate trusts.
fn check_charsmap(base64: &str) -> Result<(), String> {
    let bytes = base64.len() / 4 * 3;
    let length = first_number(base64).ok_or("`precompiled_charsmap` is too short")?;
    if length as usize <= bytes {
        Ok(())
    } else {
        Err(format!(
            "`precompiled_charsmap` announces a table of {length} bytes, but has {bytes} in all"
        ))
    }
}

/// The first four bytes of the decoded base64, little-endian.
fn first_number(base64: &str) -> Option<u32> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = base64.as_bytes().get(..6)?.iter();
    let mut bits: u64 = 0;
    for digit in digits {
        bits = bits << 6 | DIGITS.iter().position(|known| known == digit)? as u64;
    }
    // 36 bits were read; the upper 32 are the number.
    Some(((bits >> 4) as u32).swap_bytes())
}

/// The pieces of a template: the sequence itself and special tokens.
fn check_template(pieces: &[Value], special: Option<&Value>) -> Result<(), String> {
    if pieces.len() > MAX_STEPS {
        return Err(format!("`single` has more than {MAX_STEPS} pieces"));
    }
    let mut added: usize = 0;
    for piece in pieces {
        if piece.pointer("/Sequence/id").is_some_and(|id| id == "B") {
            return Err("`single` asks for a second text, and there is one".to_owned());
        }
        let Some(id) = piece.pointer("/SpecialToken/id").and_then(Value::as_str) else {
            continue;
        };
        let length = |name| Some(special?.get(id)?.get(name)?.as_array()?.len());
        match (length("ids"), length("tokens")) {
            (Some(ids), Some(tokens)) if ids == tokens => added += ids,
            (Some(_), Some(_)) => {
                return Err(format!("special token {id:?} has not as many ids as tokens"));
            }
            _ => return Err(format!("special token {id:?} is not among `special_tokens`")),
        }
    }
    if added <= MAX_STEPS {
        Ok(())
    } else {
        Err(format!("`single` adds more than {MAX_STEPS} tokens"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_a_table() {
        assert_eq!(first_number("AAAAAAAA"), Some(0));
        assert_eq!(first_number("/////w=="), Some(u32::MAX));
        // 0x78, 0x56, 0x34, 0x12
        assert_eq!(first_number("eFY0Eg=="), Some(0x1234_5678));
        assert_eq!(first_number("AAA"), None);
        assert_eq!(first_number("A A A A A"), None);
    }
}
