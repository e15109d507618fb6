//! Numbers of a schema that a float of 64 bits does not hold.
//!
//! `llguidance` reads every number of a schema as such a float: 9007199254740993 would be 9007199254740992. So
//! from 2^53 on it gets a constant of its own instead, a stand-in, by a `$ref`, and where the lexer would read
//! this constant, it gets the expression of the numbers that are meant.

use llguidance::derivre::RegexAst;
use llguidance::earley::lexerspec::LexerSpec;
use serde_json::{Map, Number, Value, json};

use super::intervals::{self, Limit};
use super::parts::ANNOTATIONS;

/// From here on, not every integer is a float.
const LARGE: u64 = 1 << 53;

/// From here on, a float may be an integer that had more digits.
const HUGE: f64 = (1_u64 << 63) as f64;

const BOUNDS: [&str; 5] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

const TYPES: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];

/// The expressions of a grammar's large numbers.
pub(super) struct Numbers<'a> {
    /// The text of the grammar, which has no number that is a stand-in.
    text: &'a str,
    /// The digits of each stand-in, and the expression that it stands for.
    stand_ins: Vec<(String, String)>,
    last: u64,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, stand_ins: Vec::new(), last: LARGE }
    }

    /// Replaces a schema with large numbers by one with references. `is_combined` says whether schemas are
    /// combined, which would take the stand-ins for numbers.
    ///
    /// # Errors
    /// A number that may not be what was sent, or whose schema is combined; bounds with nothing between.
    pub(super) fn replace(
        &mut self,
        fields: &mut Map<String, Value>,
        is_combined: bool,
    ) -> Result<(), String> {
        let own = |name: &&str| fields.get(*name).and_then(large);
        let Some(number) = ["const", "enum"].iter().chain(&BOUNDS).find_map(own) else {
            return Ok(());
        };
        let is_bounded = BOUNDS.iter().any(|name| fields.contains_key(*name));
        let values = match (fields.get("const"), fields.get("enum")) {
            (None, None) => None,
            (Some(value), None) => Some(vec![value.clone()]),
            (None, Some(Value::Array(values))) => Some(values.clone()),
            _ => Some(Vec::new()),
        };
        if is_combined || values.as_ref().is_some_and(|values| is_bounded || values.is_empty()) {
            return Err(format!(
                "{number} is beyond 2^53, and such a number is kept only in a schema that is combined with no other: leave out `allOf`, and what stands beside `$ref`, `anyOf`, `oneOf`, `enum` or `const`"
            ));
        }
        let types = match fields.get("type") {
            None => TYPES.map(Value::from).to_vec(),
            Some(Value::Array(types)) => types.clone(),
            Some(one) => vec![one.clone()],
        };
        let mut options = match values {
            Some(values) => self.constants(fields, values, &types)?,
            None => self.bounded(fields, types)?,
        };
        fields.retain(|name, _| ANNOTATIONS.contains(&name.as_str()));
        match options.as_mut_slice() {
            [Value::Object(only)] => fields.append(only),
            _ => {
                fields.insert("anyOf".to_owned(), Value::Array(options));
            }
        }
        Ok(())
    }

    /// One of some values.
    fn constants(
        &mut self,
        fields: &Map<String, Value>,
        values: Vec<Value>,
        types: &[Value],
    ) -> Result<Vec<Value>, String> {
        let has_type = |value: &Value| types.iter().any(|name| is_of(value, name));
        let values = values.into_iter().filter(has_type);
        let (large, small): (Vec<_>, Vec<_>) = values.partition(|value| large(value).is_some());
        let mut options: Vec<Value> =
            large.iter().map(|value| self.constant(value)).collect::<Result<_, _>>()?;
        if !small.is_empty() {
            let mut others = fields.clone();
            others.retain(|name, _| name != "const" && !ANNOTATIONS.contains(&name.as_str()));
            others.insert("enum".to_owned(), Value::Array(small));
            options.push(Value::Object(others));
        }
        Ok(options)
    }

    /// A value as a schema.
    fn constant(&mut self, value: &Value) -> Result<Value, String> {
        match value {
            value if large(value).is_none() => Ok(json!({"const": value})),
            Value::Array(items) => {
                let items: Vec<Value> =
                    items.iter().map(|item| self.constant(item)).collect::<Result<_, _>>()?;
                Ok(json!({
                    "type": "array", "minItems": items.len(), "items": items, "additionalItems": false,
                }))
            }
            Value::Object(fields) => {
                let names: Vec<&String> = fields.keys().collect();
                let fields: Map<String, Value> = fields
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), self.constant(value)?)))
                    .collect::<Result<_, String>>()?;
                Ok(json!({
                    "type": "object", "properties": fields, "required": names,
                    "additionalProperties": false,
                }))
            }
            Value::Number(number) => Ok(self.stand_in(exact(number)?.to_string())),
            _ => Ok(json!({"const": value})),
        }
    }

    /// Numbers between bounds, and what else the types allow.
    fn bounded(
        &mut self,
        fields: &Map<String, Value>,
        mut types: Vec<Value>,
    ) -> Result<Vec<Value>, String> {
        let has_type = |name: &str| types.iter().any(|of| of == name);
        let is_integer = !has_type("number");
        let mut options = Vec::new();
        if has_type("number") || has_type("integer") {
            if fields.contains_key("multipleOf") {
                return Err("`multipleOf` cannot stand beside a bound beyond 2^53".to_owned());
            }
            let low = limit(fields, ["minimum", "exclusiveMinimum"], is_integer, false)?;
            let high = limit(fields, ["maximum", "exclusiveMaximum"], is_integer, true)?;
            let expression = intervals::between(low, high, is_integer)
                .ok_or("there is no number between its bounds")?;
            options.push(self.stand_in(expression));
        }
        types.retain(|name| name != "number" && name != "integer");
        if !types.is_empty() {
            let mut others = fields.clone();
            others.retain(|name, _| {
                !BOUNDS.contains(&name.as_str()) && !ANNOTATIONS.contains(&name.as_str())
            });
            others.insert("type".to_owned(), Value::Array(types));
            options.push(Value::Object(others));
        }
        Ok(options)
    }

    /// A reference to the stand-in of an expression.
    fn stand_in(&mut self, expression: String) -> Value {
        let known = self.stand_ins.iter().find(|(_, of)| *of == expression);
        let digits = match known {
            Some((digits, _)) => digits.clone(),
            None => {
                let mut digits = String::new();
                while digits.is_empty() || self.text.contains(&digits) {
                    self.last -= 1;
                    digits = self.last.to_string();
                }
                self.stand_ins.push((digits.clone(), expression));
                digits
            }
        };
        json!({"$ref": format!("#/$defs/{}", name(&digits))})
    }

    /// Adds what the references name to a whole schema.
    pub(super) fn define(&self, root: &mut Value) {
        let (Value::Object(fields), false) = (root, self.stand_ins.is_empty()) else {
            return;
        };
        let definitions = fields.entry("$defs").or_insert_with(|| json!({}));
        if let Value::Object(definitions) = definitions {
            definitions.extend(self.stand_ins.iter().map(|(digits, _)| {
                // Only integers of 64 bits come from here, and these are below 2^53.
                (name(digits), json!({"const": digits.parse::<u64>().unwrap_or_default()}))
            }));
        }
    }

    /// Puts the expressions where their stand-ins are.
    ///
    /// # Errors
    /// An expression that the lexer has already, which none has.
    pub(super) fn put(&self, lexer: LexerSpec) -> Result<LexerSpec, String> {
        if self.stand_ins.is_empty() {
            return Ok(lexer);
        }
        let mut changed = lexer.clone();
        for (index, lexeme) in lexer.lexemes.iter().enumerate() {
            let stands =
                |(digits, _): &&(String, String)| lexer.has_forced_bytes(lexeme, digits.as_bytes());
            let Some((_, expression)) = self.stand_ins.iter().find(stands) else {
                continue;
            };
            // A lexeme knows its place, so the new one is added where the other was the last.
            let behind = changed.lexemes.split_off(index);
            changed.current_class = lexeme.class();
            let expression = RegexAst::Regex(expression.clone());
            let added = changed
                .add_greedy_lexeme(String::new(), expression, false, None, usize::MAX)
                .map_err(|error| error.to_string())?;
            if added.as_usize() != index {
                return Err("it has the same number beyond 2^53 in two ways".to_owned());
            }
            changed.lexemes.extend(behind.into_iter().skip(1));
        }
        changed.current_class = lexer.current_class;
        Ok(changed)
    }
}

fn name(digits: &str) -> String {
    format!("number-{digits}")
}

/// The first large number in a value.
fn large(value: &Value) -> Option<&Number> {
    match value {
        Value::Number(number) => is_large(number).then_some(number),
        Value::Array(items) => items.iter().find_map(large),
        Value::Object(fields) => fields.values().find_map(large),
        _ => None,
    }
}

fn is_large(number: &Number) -> bool {
    match (number.as_i64(), number.as_u64()) {
        (Some(number), _) => number.unsigned_abs() >= LARGE,
        (_, Some(_)) => true,
        _ => number.as_f64().is_some_and(|number| number.abs() >= LARGE as f64),
    }
}

/// A number without a fraction, as it was sent.
fn exact(number: &Number) -> Result<i128, String> {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(number), _, _) => Ok(number.into()),
        (_, Some(number), _) => Ok(number.into()),
        (_, _, Some(number)) if number.abs() < HUGE => Ok(number as i128),
        _ => Err(format!("{number} has more digits than an integer of 64 bits")),
    }
}

/// What a bound and the one that is excluded ask for, the tighter of both: the limit of the numbers, or of
/// their negatives.
fn limit(
    fields: &Map<String, Value>,
    [included, excluded]: [&str; 2],
    is_integer: bool,
    is_negated: bool,
) -> Result<Option<Limit>, String> {
    let sign = |number: i128| if is_negated { -number } else { number };
    let one = |name: &str, is_open: bool| match fields.get(name) {
        Some(Value::Number(number)) => {
            let fraction = number.as_f64().filter(|number| number.fract() != 0.0);
            match fraction.map(|number| if is_negated { -number } else { number }) {
                None => Ok(Some(Limit { at: sign(exact(number)?), is_open })),
                // Below 2^53, or it had no fraction.
                Some(number) if is_integer => {
                    Ok(Some(Limit { at: number.ceil() as i128, is_open: false }))
                }
                Some(_) => Err(format!(
                    "{number} has a fraction, and stands beside a bound beyond 2^53: leave the fraction out"
                )),
            }
        }
        // In the oldest drafts it says whether the other bound is excluded.
        None | Some(Value::Bool(_)) => Ok(None),
        Some(other) => Err(format!("`{name}` is {other}, and must be a number")),
    };
    let is_open = fields.get(excluded) == Some(&Value::Bool(true));
    Ok(one(included, is_open)?.max(one(excluded, true)?))
}

/// Whether a value is of a type.
fn is_of(value: &Value, name: &Value) -> bool {
    let is_whole = |number: &Number| {
        !number.is_f64() || number.as_f64().is_some_and(|number| number.fract() == 0.0)
    };
    match (value, name.as_str()) {
        (Value::Null, Some("null"))
        | (Value::Bool(_), Some("boolean"))
        | (Value::Number(_), Some("number"))
        | (Value::String(_), Some("string"))
        | (Value::Array(_), Some("array"))
        | (Value::Object(_), Some("object")) => true,
        (Value::Number(number), Some("integer")) => is_whole(number),
        _ => false,
    }
}
