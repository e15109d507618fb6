//! Bounds of numbers in a schema, for `llguidance`.

use serde_json::{Map, Value};

/// Replaces each bound of a schema that is excluded by the number next to it, which is not. Where both bounds
/// have the same whole part, `llguidance` 1.9 allows a whole one that is excluded: 0 would be greater than 0 and
/// less than 0.5.
pub(super) fn include(fields: &mut Map<String, Value>) {
    include_one(fields, "exclusiveMinimum", "minimum", f64::max, above);
    include_one(fields, "exclusiveMaximum", "maximum", f64::min, |bound| -above(-bound));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::parts::visit;
    use super::*;

    fn include_all(schema: &mut Value) {
        let one = |fields: &mut Map<String, Value>| {
            include(fields);
            Ok(())
        };
        visit(schema, one).unwrap();
    }

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
                    "components": {"schemas": {"A": schema}},
                    "properties": {"exclusiveMinimum": schema, "enum": {"items": [schema]}},
                })
            };
            let mut found = whole(&schema);
            include_all(&mut found);
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
            include_all(&mut found);
            assert_eq!(found, schema);
        }
    }
}
