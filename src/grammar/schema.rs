//! JSON schemas.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::bounds;

/// What may stand between the parts of a JSON text. Without a limit, a small model may go on with
/// spaces for ever.
const WHITESPACE: &str = r"\x20|\n\x20{0,32}";

/// A JSON schema, in which the fields of objects are written in the order in which they stand here.
///
/// Where a `number` has to be above or below 0, with 0 excluded, it is at least 2^-52 away from it. One without
/// bounds may have any exponent: 1e999 is JSON, and more than a float of 64 bits holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema(Value);

impl Schema {
    /// Any object.
    pub fn object() -> Self {
        Self(json!({ "type": "object" }))
    }

    /// The schema as JSON.
    pub fn json(&self) -> &Value {
        &self.0
    }

    /// The schema as a part of a [Lark grammar](super::Grammar::Lark), with the same rule for what
    /// stands between the parts.
    pub fn to_lark(&self) -> String {
        format!("%json {}", for_guidance(&self.0))
    }
}

impl From<Value> for Schema {
    fn from(json: Value) -> Self {
        Self(json)
    }
}

/// The order of the fields counts.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        let [this, that] = [&self.0, &other.0].map(Value::to_string);
        this == that
    }
}

/// A schema in the way of `llguidance`, which says what may stand between the parts.
pub(super) fn for_guidance(schema: &Value) -> Value {
    let mut schema = match schema {
        Value::Bool(true) => json!({}),
        // Nothing satisfies an empty choice.
        Value::Bool(false) => json!({ "anyOf": [] }),
        schema => schema.clone(),
    };
    bounds::include(&mut schema);
    if let Value::Object(fields) = &mut schema {
        fields.insert("x-guidance".to_owned(), json!({ "whitespace_pattern": WHITESPACE }));
    }
    schema
}
