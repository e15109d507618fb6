//! Where in a schema something is: `#/properties/age`.

use serde_json::{Map, Value};

use super::parts::{GROUPS, SCHEMAS};

/// The most parts that are tried.
const MOST_TRIED: usize = 200;

/// A part of a schema that is nested deeper than `deepest` levels, the first of them.
pub(super) fn too_deep(schema: &Value, deepest: usize) -> Option<String> {
    // Values to look at, with their places. Not by a function that calls itself.
    let mut left = vec![("#".to_owned(), schema, 0)];
    while let Some((place, value, depth)) = left.pop() {
        if depth > deepest {
            return Some(place);
        }
        left.extend(children(&place, value).map(|(place, value)| (place, value, depth + 1)));
    }
    None
}

/// The smallest part of `schema` that `has_problem`, which the schema itself has.
pub(super) fn of_problem(schema: &Value, has_problem: impl Fn(&Value) -> bool) -> String {
    let (mut place, mut part) = ("#".to_owned(), schema);
    let mut tried = 0;
    loop {
        let within = parts(&place, part).take(MOST_TRIED - tried).find(|(_, part)| {
            tried += 1;
            has_problem(&with_definitions(part, schema))
        });
        match within {
            Some(found) => (place, part) = found,
            None => return place,
        }
    }
}

/// The schemas within a schema. Those that others refer to come first, as a problem of theirs is one of
/// the others too.
fn parts<'a>(place: &str, schema: &'a Value) -> impl Iterator<Item = (String, &'a Value)> {
    GROUPS.iter().chain(&SCHEMAS).flat_map(move |&name| {
        let place = format!("{place}/{name}");
        match schema.get(name) {
            None => Vec::new(),
            Some(group) if group.is_array() || GROUPS.contains(&name) => {
                children(&place, group).collect()
            }
            Some(part) => vec![(place, part)],
        }
    })
}

/// The values in an object or a list, with their places.
fn children<'a>(
    place: &str,
    value: &'a Value,
) -> Box<dyn Iterator<Item = (String, &'a Value)> + 'a> {
    let place = place.to_owned();
    match value {
        Value::Object(fields) => Box::new(fields.iter().map(move |(name, value)| {
            (format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")), value)
        })),
        Value::Array(items) => Box::new(
            items.iter().enumerate().map(move |(index, item)| (format!("{place}/{index}"), item)),
        ),
        _ => Box::new(std::iter::empty()),
    }
}

/// A part as a schema of its own, with what its references name.
fn with_definitions(part: &Value, schema: &Value) -> Value {
    let (Value::Object(part), Value::Object(schema)) = (part, schema) else {
        return part.clone();
    };
    let mut whole: Map<String, Value> = part.clone();
    for name in ["$defs", "definitions"] {
        if let Some(definitions) = schema.get(name) {
            whole.insert(name.to_owned(), definitions.clone());
        }
    }
    Value::Object(whole)
}
