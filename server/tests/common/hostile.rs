//! Grammars that take much work: each is short enough to be sent, and asks for what grows faster than it.

use serde_json::{Map, Value, json};
use slowburn::grammar::{Grammar, Schema};

fn schema(json: Value) -> Grammar {
    Grammar::JsonSchema(Schema::from(json))
}

fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|index| format!("name_{index}"))
}

/// Grammars of a kind, of growing size, by name.
pub fn grammars() -> Vec<(String, Grammar)> {
    let mut all = Vec::new();
    for size in [300, 1000, 3000] {
        all.push((format!("{size} optional properties"), optional(size)));
        all.push((format!("{size} required names"), required(size)));
        all.push((format!("{size} required of many properties"), required_of(size)));
        all.push((format!("one of {size} values, twice"), enums(size)));
        all.push((format!("{size} choices"), Grammar::Choice(names(size).collect())));
        all.push((
            format!("an enum of {size}"),
            schema(json!({"enum": names(size).collect::<Vec<_>>()})),
        ));
    }
    for size in [100, 350, 700] {
        all.push((format!("any of {size} objects"), variants("anyOf", size)));
        all.push((format!("one of {size} objects"), variants("oneOf", size)));
        all.push((format!("{size} patterns of names"), patterns(size)));
        all.push((format!("all of {size} objects"), variants("allOf", size)));
    }
    for size in [5, 10, 20, 40] {
        all.push((format!("{size} intersections"), intersections(size)));
        all.push((format!("{size} intersections of counts"), counted(size)));
    }
    for size in [8, 12, 16, 20, 30] {
        let pattern = format!("(a|b)*a(a|b){{{size}}}");
        all.push((format!("an automaton of 2^{size} states"), Grammar::Regex(pattern.clone())));
        all.push((
            format!("a pattern of 2^{size} states"),
            schema(json!({"type": "string", "pattern": format!("^{pattern}$")})),
        ));
        all.push((
            format!("a terminal of 2^{size} states"),
            Grammar::Lark(format!("start: WORD\nWORD: /{pattern}/")),
        ));
    }
    for size in [20, 100, 400, 1000] {
        all.push((format!("{size} letters"), Grammar::Regex(format!("\\w{{{size}}}"))));
        all.push((format!("up to {size} words"), Grammar::Regex(format!("(\\w+ ){{0,{size}}}"))));
        all.push((
            format!("{size} letters of a schema"),
            schema(json!({"type": "string", "minLength": size, "maxLength": size * 100})),
        ));
        all.push((format!("{size} items"), schema(json!({"type": "array", "minItems": size, "items": {"type": "string", "pattern": "^[a-z]{1,9}$"}}))));
    }
    for size in [4, 16, 64, 256] {
        all.push((format!("{size} ambiguous rules"), ambiguous(size)));
        all.push((format!("{size} terminals that overlap"), overlapping(size)));
        all.push((format!("{size} tuples"), tuples(size)));
    }
    all
}

fn optional(size: usize) -> Grammar {
    let properties: Map<String, Value> =
        names(size).map(|name| (name, json!({"type": "integer"}))).collect();
    schema(json!({"type": "object", "properties": properties, "additionalProperties": false}))
}

fn required(size: usize) -> Grammar {
    schema(json!({"type": "object", "required": names(size).collect::<Vec<_>>()}))
}

fn required_of(size: usize) -> Grammar {
    let properties: Map<String, Value> =
        names(size).map(|name| (name, json!({"type": "string"}))).collect();
    schema(
        json!({"type": "object", "properties": properties, "required": names(size).collect::<Vec<_>>()}),
    )
}

fn enums(size: usize) -> Grammar {
    let values =
        |from: usize| (from..from + size).map(|index| format!("value {index}")).collect::<Vec<_>>();
    schema(json!({"oneOf": [{"enum": values(0)}, {"enum": values(size)}]}))
}

fn variants(field: &str, size: usize) -> Grammar {
    let object = |name: String| json!({"type": "object", "properties": {name.clone(): {"type": "integer"}, "kind": {"const": name}}, "required": ["kind"]});
    schema(json!({field: names(size).map(object).collect::<Vec<_>>()}))
}

fn patterns(size: usize) -> Grammar {
    let patterns: Map<String, Value> = (0..size)
        .map(|index| (format!("^[a-z]{{3}}{index}.*x$"), json!({"type": "integer"})))
        .collect();
    schema(json!({"type": "object", "patternProperties": patterns}))
}

fn intersections(size: usize) -> Grammar {
    let parts: Vec<String> = (0..size)
        .map(|index| format!("/(.*{}.*)/", (b'a' + (index % 26) as u8) as char))
        .collect();
    Grammar::Lark(format!("start: WORD\nWORD: {}", parts.join(" & ")))
}

fn counted(size: usize) -> Grammar {
    let parts: Vec<String> = (2..size + 2).map(|index| format!("/(a{{{index}}})*/")).collect();
    Grammar::Lark(format!("start: WORD\nWORD: {}", parts.join(" & ")))
}

fn ambiguous(size: usize) -> Grammar {
    let rules: Vec<String> =
        (0..size).map(|index| format!("a{index}: start start | \"a\"? \"b\"?")).collect();
    let names: Vec<String> = (0..size).map(|index| format!("a{index}")).collect();
    Grammar::Lark(format!("start: {}\n{}", names.join(" | "), rules.join("\n")))
}

fn overlapping(size: usize) -> Grammar {
    let rules: Vec<String> = (0..size)
        .map(|index| format!("W{index}: /[a-z]*{}[a-z]*/", (b'a' + (index % 26) as u8) as char))
        .collect();
    let names: Vec<String> = (0..size).map(|index| format!("W{index}")).collect();
    Grammar::Lark(format!("start: ({})+\n{}", names.join(" | "), rules.join("\n")))
}

fn tuples(size: usize) -> Grammar {
    let item = |index: usize| json!({"anyOf": [{"type": "string", "maxLength": index + 1}, {"type": "integer", "minimum": index}]});
    schema(
        json!({"type": "array", "prefixItems": (0..size).map(item).collect::<Vec<_>>(), "items": false, "minItems": size}),
    )
}
