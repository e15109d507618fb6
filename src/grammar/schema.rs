//! JSON schemas.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What may stand between the parts of a JSON text. Without a limit, a small model may go on with
/// spaces for ever.
const WHITESPACE: &str = r"\x20|\n\x20{0,32}";

/// A JSON schema, in which the fields of objects are written in the order in which they stand here.
///
/// An `exclusiveMinimum` or `exclusiveMaximum` of a `number` that is whole does not exclude the bound itself:
/// `llguidance` 1.9 allows it.
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
        format!("%json {}", with_whitespace(&self.0))
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

/// A schema that says what may stand between the parts, in the way of `llguidance`.
pub(super) fn with_whitespace(schema: &Value) -> Value {
    let mut schema = match schema {
        Value::Bool(true) => json!({}),
        // Nothing satisfies an empty choice.
        Value::Bool(false) => json!({ "anyOf": [] }),
        schema => schema.clone(),
    };
    if let Value::Object(fields) = &mut schema {
        fields.insert("x-guidance".to_owned(), json!({ "whitespace_pattern": WHITESPACE }));
    }
    schema
}
