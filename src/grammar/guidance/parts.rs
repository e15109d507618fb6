//! The schemas within a schema.

use serde_json::{Map, Value};

/// Fields whose value is an object of schemas by name.
pub(super) const GROUPS: [&str; 4] = ["$defs", "definitions", "patternProperties", "properties"];

/// Fields whose value is a schema or a list of schemas.
pub(super) const SCHEMAS: [&str; 8] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "items",
    "not",
    "oneOf",
    "prefixItems",
];

/// Fields that do not constrain. Beside a `$ref`, `llguidance` takes any other one for a constraint.
pub(super) const ANNOTATIONS: [&str; 15] = [
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "default",
    "definitions",
    "description",
    "examples",
    "id",
    "readOnly",
    "title",
    "writeOnly",
];

/// Fields with values that are no schemas, whatever they look like.
const VALUES: [&str; 4] = ["const", "default", "enum", "examples"];

/// Calls a function for each object among a schema and those within, the outer ones first. What a field holds
/// that is not known may be schemas that a `$ref` names.
///
/// # Errors
/// The first of the function.
pub(super) fn visit(
    schema: &mut Value,
    mut call: impl FnMut(&mut Map<String, Value>) -> Result<(), String>,
) -> Result<(), String> {
    // Not by a function that calls itself: a schema may nest deeply.
    let mut left = vec![schema];
    while let Some(schema) = left.pop() {
        if let Value::Object(fields) = schema {
            call(fields)?;
            left.extend(fields.iter_mut().flat_map(|(name, value)| within(name, value)));
        }
    }
    Ok(())
}

/// The schemas in a field.
fn within<'a>(name: &str, value: &'a mut Value) -> Vec<&'a mut Value> {
    if VALUES.contains(&name) {
        return Vec::new();
    }
    if value.is_object() && !GROUPS.contains(&name) {
        return vec![value];
    }
    match value {
        Value::Object(group) => group.values_mut().collect(),
        Value::Array(list) => list.iter_mut().collect(),
        _ => Vec::new(),
    }
}
