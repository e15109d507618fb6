//! Bounds of numbers in a schema, for `llguidance`.

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

/// Replaces each bound that is excluded by the number next to it, which is not, in a schema and in those
/// within. Where both bounds have the same whole part, `llguidance` 1.9 allows a whole one that is excluded:
/// 0 would be greater than 0 and less than 0.5.
pub(super) fn include(schema: &mut Value) {
    // Not by a function that calls itself: a schema may nest deeply.
    let mut left = vec![schema];
    while let Some(schema) = left.pop() {
        if let Value::Object(fields) = schema {
            include_one(fields, "exclusiveMinimum", "minimum", f64::max, above);
            include_one(fields, "exclusiveMaximum", "maximum", f64::min, |bound| -above(-bound));
            left.extend(fields.iter_mut().flat_map(|(name, value)| schemas(name, value)));
        }
    }
}

/// The next number above one. That above 0 has hundreds of digits, so it is the one above 1 without the 1.
fn above(bound: f64) -> f64 {
    if bound == 0.0 {
        f64::EPSILON
    } else {
        bound.next_up()
    }
}

fn include_one(
    fields: &mut Map<String, Value>,
    excluded: &str,
    included: &str,
    tighter: fn(f64, f64) -> f64,
    next: impl Fn(f64) -> f64,
) {
    // In the oldest drafts it is true or false.
    let Some(bound) = fields.get(excluded).and_then(Value::as_f64) else {
        return;
    };
    let bound = match fields.get(included).map(Value::as_f64) {
        None => next(bound),
        Some(Some(other)) => tighter(next(bound), other),
        // A schema that is wrong stays as it is.
        Some(None) => return,
    };
    fields.remove(excluded);
    fields.insert(included.to_owned(), Value::from(bound));
}

/// The schemas in a field.
fn schemas<'a>(name: &str, value: &'a mut Value) -> Vec<&'a mut Value> {
    let (is_group, is_schema) = (GROUPS.contains(&name), SCHEMAS.contains(&name));
    if is_schema && value.is_object() {
        return vec![value];
    }
    match value {
        Value::Object(group) if is_group => group.values_mut().collect(),
        Value::Array(list) if is_schema => list.iter_mut().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bound_that_is_excluded_is_the_next_number_wherever_a_schema_is() {
        let above_1 = 1.0 + f64::EPSILON;
        for (schema, expected) in [
            (json!({"exclusiveMinimum": 1}), json!({"minimum": above_1})),
            (json!({"exclusiveMaximum": -1.0}), json!({"maximum": -above_1})),
            (json!({"exclusiveMinimum": 0}), json!({"minimum": f64::EPSILON})),
            (json!({"exclusiveMaximum": 0}), json!({"maximum": -f64::EPSILON})),
            (json!({"exclusiveMinimum": 1, "minimum": 2}), json!({"minimum": 2.0})),
            (json!({"exclusiveMinimum": 1, "minimum": 1}), json!({"minimum": above_1})),
            (json!({"exclusiveMaximum": 1, "maximum": 0}), json!({"maximum": 0.0})),
        ] {
            let whole = |schema: &Value| {
                json!({
                    "anyOf": [{"type": "null"}, schema],
                    "items": schema,
                    "properties": {"exclusiveMinimum": schema, "enum": {"items": [schema]}},
                })
            };
            let mut found = whole(&schema);
            include(&mut found);
            assert_eq!(found, whole(&expected));
        }
    }

    #[test]
    fn what_is_no_bound_stays_as_it_is() {
        for schema in [
            json!({"const": {"exclusiveMinimum": 1}, "enum": [{"exclusiveMaximum": 1}]}),
            json!({"default": {"exclusiveMinimum": 1}, "minimum": 1, "exclusiveMinimum": true}),
            json!({"exclusiveMinimum": 1, "minimum": "2"}),
            json!({"properties": {"exclusiveMinimum": true}, "items": false}),
            json!(true),
        ] {
            let mut found = schema.clone();
            include(&mut found);
            assert_eq!(found, schema);
        }
    }
}
