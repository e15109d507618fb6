//! JSON schemas.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A JSON schema, in which the fields of objects are written in the order in which they stand here.
///
/// Where a `number` has to be above or below 0, with 0 excluded, it is at least 2^-52 away from it. One without
/// bounds may have any exponent: 1e999 is JSON, and more than a float of 64 bits holds. Integers in the schema
/// are exact, up to 64 bits. Strings have no control characters but those with an escape of two characters, as
/// `\n`, and no other character is escaped. A name that is in neither `properties` nor `required` may repeat.
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

    /// The schema as a part of a [Lark grammar](super::Grammar::Lark).
    pub fn to_lark(&self) -> String {
        let mut schema = self.0.clone();
        if let Value::Object(fields) = &mut schema {
            // With it, a schema in a grammar may say how `llguidance` is to read it.
            fields.retain(|name, _| name != "x-guidance");
        }
        format!("%json {schema}")
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
