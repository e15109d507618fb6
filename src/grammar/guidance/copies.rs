//! How large a JSON schema is with the copies that `llguidance` makes of its parts.
//!
//! It counts what it reads, but not what it copies: the target of a `$ref` that has constraints beside it, what
//! stands beside alternatives for each of these, and what holds for all other properties for each property. A
//! few KB may ask for any number of copies. What two constraints say of the same property is not followed.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::parts::{ANNOTATIONS, GROUPS, SCHEMAS};

/// The most parts. One takes up to 400 bytes there.
pub(super) const MOST: u64 = 250_000;

/// The most combinations that `llguidance` reads, and the most schemas within each other.
const MOST_READ: u64 = 50_000;

/// Whether a schema has more than [`MOST`] parts with its copies. Called where the stack has room: what
/// refers to one another is read by functions that call themselves.
pub(super) fn are_too_many(root: &Value) -> bool {
    let mut copies = Copies { root, known: HashMap::new(), defined: 0, depth: 0 };
    copies.of(root, false).parts.saturating_add(copies.defined) > MOST
}

/// What a schema is to those that it is combined with.
#[derive(Clone, Copy)]
struct Size {
    /// How many alternatives it has.
    options: u64,
    parts: u64,
    /// The properties and items that it names, and the parts of what holds for others.
    named: u64,
    others: u64,
}

impl Size {
    fn of(parts: u64) -> Self {
        Self { options: 1, parts, named: 0, others: 0 }
    }

    /// One of several: each is read alone.
    fn or(self, other: Self) -> Self {
        Self {
            options: self.options.saturating_add(other.options),
            parts: self.parts.saturating_add(other.parts),
            named: self.named.max(other.named),
            others: self.others.max(other.others),
        }
    }

    /// All of several at once: each is copied for all alternatives of the others.
    fn all(sizes: &[Self]) -> Self {
        let product = |all: u64, size: &Self| all.saturating_mul(size.options.max(1));
        let options = sizes.iter().fold(1, product);
        let copied = |size: &Self| {
            size.parts.saturating_mul((options / size.options.max(1)).clamp(1, MOST_READ))
        };
        let sum = |of: &dyn Fn(&Self) -> u64| {
            sizes.iter().fold(0_u64, |sum, size| sum.saturating_add(of(size)))
        };
        let (named, others) = (sum(&|size| size.named), sum(&|size| size.others));
        let parts = sum(&copied).saturating_add(named.saturating_mul(others)).saturating_add(1);
        Self { options, parts, named, others }
    }
}

struct Copies<'a> {
    root: &'a Value,
    /// By their references. That of one that is being read is small: `llguidance` refuses a circle of copies.
    known: HashMap<&'a str, Size>,
    /// The parts of all that is known, each once.
    defined: u64,
    depth: u64,
}

impl<'a> Copies<'a> {
    /// The size of a schema, which `is_combined` with others or stands alone.
    fn of(&mut self, schema: &'a Value, is_combined: bool) -> Size {
        let Value::Object(fields) = schema else {
            return Size::of(1);
        };
        if self.depth == MOST_READ {
            return Size::of(u64::MAX);
        }
        self.depth += 1;
        let constraints =
            || fields.iter().filter(|(name, _)| !ANNOTATIONS.contains(&name.as_str()));
        let is_combined = is_combined || constraints().count() > 1;
        let (mut sizes, mut own) = (Vec::new(), Vec::new());
        for (name, value) in constraints() {
            match name.as_str() {
                "$ref" | "allOf" | "anyOf" | "oneOf" | "const" | "enum" => {
                    self.combined(name, value, is_combined, &mut sizes);
                }
                _ => own.push(self.own(name, value)),
            }
        }
        self.depth -= 1;
        if !own.is_empty() {
            sizes.push(together(fields, &own));
        }
        Size::all(&sizes)
    }

    /// Adds what a field is that is combined with all others.
    fn combined(&mut self, name: &str, value: &'a Value, is_combined: bool, sizes: &mut Vec<Size>) {
        match (name, value) {
            ("$ref", Value::String(name)) => sizes.push(self.target(name, is_combined)),
            ("anyOf" | "oneOf", Value::Array(branches)) => {
                let branches = branches.iter().map(|branch| self.of(branch, is_combined));
                sizes.extend(branches.reduce(Size::or));
            }
            ("allOf", Value::Array(members)) => {
                let is_combined = is_combined || members.len() > 1;
                sizes.extend(members.iter().map(|member| self.of(member, is_combined)));
            }
            ("enum", Value::Array(values)) => {
                sizes.push(Size { options: values.len() as u64, ..Size::of(text(value)) });
            }
            _ => sizes.push(Size::of(text(value))),
        }
    }

    /// The size of a field that is read together with those beside it.
    fn own(&mut self, name: &str, value: &'a Value) -> Size {
        match value {
            Value::Object(group) if GROUPS.contains(&name) => self.group(name, group),
            Value::Array(items) if SCHEMAS.contains(&name) => {
                let parts = items.iter().fold(0, |sum, item| self.within(item).saturating_add(sum));
                Size { named: items.len() as u64, ..Size::of(parts) }
            }
            Value::Object(_) if SCHEMAS.contains(&name) => {
                let parts = self.within(value);
                Size { others: parts, ..Size::of(parts) }
            }
            _ => Size::of(text(value)),
        }
    }

    fn group(&mut self, name: &str, group: &'a Map<String, Value>) -> Size {
        let count = group.len() as u64;
        let parts =
            group.values().fold(count, |sum, schema| self.within(schema).saturating_add(sum));
        match name {
            "properties" => Size { named: count, ..Size::of(parts) },
            // Each expression is compared with all others.
            _ => Size {
                others: parts,
                ..Size::of(parts.saturating_add(count * count))
            },
        }
    }

    /// The parts of a schema for values within.
    fn within(&mut self, schema: &'a Value) -> u64 {
        self.of(schema, false).parts
    }

    /// What a reference is: a copy of what it names, if it `is_combined` with others.
    fn target(&mut self, reference: &'a str, is_combined: bool) -> Size {
        let size = match self.known.get(reference) {
            Some(&known) => known,
            None => {
                self.known.insert(reference, Size::of(1));
                let found = self.find(reference);
                let size = found.map_or(Size::of(1), |schema| self.of(schema, true));
                self.known.insert(reference, size);
                self.defined = self.defined.saturating_add(size.parts);
                size
            }
        };
        if is_combined { size } else { Size::of(1) }
    }

    fn find(&self, reference: &str) -> Option<&'a Value> {
        if matches!(reference, "#" | "#/") {
            return Some(self.root);
        }
        let step = |found: &'a Value, name: &str| match found {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            Value::Object(fields) => fields.get(name),
            _ => None,
        };
        reference.strip_prefix("#/")?.split('/').try_fold(self.root, step)
    }
}

/// The fields of a schema that `llguidance` reads together, once for each time that `type` names one type.
fn together(fields: &Map<String, Value>, own: &[Size]) -> Size {
    let mut all = Size::all(own);
    if let Some(Value::Array(types)) = fields.get("type") {
        let mut times = HashMap::new();
        for name in types.iter().filter_map(Value::as_str) {
            *times.entry(name).or_insert(0_u64) += 1;
        }
        all.parts = all.parts.saturating_mul(times.into_values().max().unwrap_or(1));
        all.options = types.len() as u64;
    }
    if fields.contains_key("minProperties") || fields.contains_key("maxProperties") {
        // A rule for each property says which of the others may follow.
        all.parts = all.parts.saturating_add(all.named.saturating_mul(all.named));
    }
    all
}

/// The parts of what is no schema: one for each value, and for each 64 bytes of an expression.
fn text(value: &Value) -> u64 {
    match value {
        Value::String(text) => 1 + text.len() as u64 / 64,
        Value::Array(items) => items.iter().map(text).sum(),
        _ => 1,
    }
}

/// Schemas of a few KB that become millions of parts, and those that only look so.
#[cfg(test)]
mod tests {
    use std::fmt::Display;

    use serde_json::json;

    use super::super::with_room;
    use super::*;

    fn is_accepted(schema: &Value) -> bool {
        let length = schema.to_string().len();
        with_room(length, || are_too_many(schema)) == Ok(false)
    }

    fn reference(name: impl Display) -> Value {
        json!({"$ref": format!("#/$defs/{name}")})
    }

    /// `beside` with more fields.
    fn with(mut fields: Value, beside: &Value) -> Value {
        let more = beside.as_object().unwrap().clone();
        fields.as_object_mut().unwrap().extend(more);
        fields
    }

    fn fields(count: usize, schema: impl Fn(usize) -> Value) -> Value {
        (0..count).map(|i| (format!("a{i}"), schema(i))).collect::<Map<_, _>>().into()
    }

    fn objects(properties: &Value) -> Value {
        json!({"type": "object", "properties": properties})
    }

    /// A definition for each number below `count`, beside the first of them.
    fn definitions(count: usize, schema: impl Fn(usize) -> Value) -> Value {
        with(reference("a0"), &json!({"$defs": fields(count, schema)}))
    }

    /// A thousand parts.
    fn large() -> Value {
        json!({"enum": (0..1000).collect::<Vec<_>>()})
    }

    /// Each definition has the next one twice, with `beside` at its references.
    fn doubled(beside: &Value) -> Value {
        definitions(31, |i| match i {
            30 => json!({"type": "object"}),
            _ => {
                let next = with(reference(format!("a{}", i + 1)), beside);
                objects(&json!({"x": next, "y": next}))
            }
        })
    }

    #[test]
    fn references_that_double_with_constraints_beside_them_are_refused() {
        for beside in [
            json!({"type": "object"}),
            json!({"minProperties": 0}),
            json!({"anyOf": [{"type": "object"}]}),
            // `llguidance` does not know these, and takes them for constraints.
            json!({"deprecated": true}),
            json!({"x-guidance": {}}),
        ] {
            assert!(!is_accepted(&doubled(&beside)), "{beside}");
        }
        let annotations = json!({"description": "One.", "default": null, "$comment": ""});
        for beside in [json!({}), annotations] {
            assert!(is_accepted(&doubled(&beside)), "{beside}");
        }
    }

    #[test]
    fn what_is_copied_for_each_of_many_is_refused() {
        let many = |schema: &Value| vec![schema.clone(); 1000];
        let (object, string) = (json!({"type": "object"}), json!({"type": "string"}));
        let (x_large, some) =
            (objects(&json!({"x": large()})), objects(&fields(1000, |_| json!({}))));
        let lists = |one: Value| {
            let large = json!({"type": "array", "items": large()});
            json!({"allOf": [with(json!({"type": "array"}), &one), large]})
        };
        let referring = |_| with(reference("large"), &json!({"minimum": 0}));
        for hostile in [
            with(x_large.clone(), &json!({"anyOf": many(&object)})),
            with(json!({"oneOf": many(&object)}), &x_large),
            with(x_large, &json!({"type": many(&json!("object"))})),
            json!({"allOf": [some, {"type": "object", "additionalProperties": large()}]}),
            with(some.clone(), &json!({"patternProperties": {"a": large()}})),
            lists(json!({"prefixItems": many(&json!({}))})),
            lists(json!({"items": many(&json!({}))})),
            with(objects(&fields(1000, referring)), &json!({"$defs": {"large": large()}})),
            // An expression is a part for each 64 bytes.
            with(
                json!({"type": "string", "pattern": "a".repeat(20_000)}),
                &json!({"anyOf": many(&string)}),
            ),
            json!({"type": "object", "patternProperties": fields(1000, |_| json!({}))}),
            with(some, &json!({"minProperties": 1, "additionalProperties": false})),
        ] {
            let text = hostile.to_string();
            assert!(!is_accepted(&hostile), "{text:.300}");
        }
    }

    #[test]
    fn alternatives_that_multiply_are_refused() {
        let two = |i: usize| {
            let field = |name: &str| objects(&json!({format!("{name}{i}"): {"type": "null"}}));
            json!({"anyOf": [field("a"), field("b")]})
        };
        let all = |count| json!({"allOf": (0..count).map(two).collect::<Vec<_>>()});
        assert!(is_accepted(&all(6)));
        assert!(!is_accepted(&all(20)));
    }

    #[test]
    fn a_definition_is_found_under_any_name() {
        let mut hidden = doubled(&json!({"type": "object"}));
        let definitions = hidden["$defs"].take();
        let text = json!({"$ref": hidden["$ref"], "": definitions}).to_string();
        assert!(!is_accepted(&serde_json::from_str(&text.replace("#/$defs/", "#//")).unwrap()));
    }

    #[test]
    fn what_refers_to_itself_comes_to_an_end() {
        let union = json!({"anyOf": [reference("a1"), {}]});
        for beside in [json!({}), json!({"type": "object"}), union] {
            let next = |i: usize| with(reference(format!("a{}", (i + 1) % 2)), &beside);
            assert!(is_accepted(&definitions(2, next)), "{beside}");
            let nested = |i: usize| objects(&json!({"x": next(i)}));
            assert!(is_accepted(&definitions(2, nested)), "{beside}");
        }
        for name in ["", "nowhere", "a0/properties/x/y"] {
            assert!(is_accepted(&with(reference(name), &json!({"type": "null"}))), "{name}");
        }
    }

    #[test]
    fn schemas_of_programs_are_accepted() {
        let union = |i: usize| {
            let next = match i {
                4 => json!({}),
                _ => reference(format!("a{}", i + 1)),
            };
            let branch = |kind: usize| {
                let fields = objects(&json!({"kind": {"const": kind}, "child": next}));
                with(fields, &json!({"required": ["kind"], "additionalProperties": false}))
            };
            json!({"type": "object", "anyOf": (0..10).map(branch).collect::<Vec<_>>()})
        };
        let mesh = |i: usize| {
            let to = |k: usize| reference(format!("a{}", (i * 7 + k * 31 + 1) % 300));
            let described = |k| json!({"allOf": [to(k)], "description": "As of pydantic."});
            let optional = |k| json!({"anyOf": [to(k), {"type": "null"}], "default": null});
            objects(&json!({
                "a": to(0), "b": described(1), "c": optional(2),
                "d": {"type": "array", "items": to(3)}, "e": {"additionalProperties": to(4)},
            }))
        };
        let mixin = |i: usize| json!({"properties": fields(5, |k| json!({"minimum": i + k}))});
        // Each list and each of its objects may be null.
        let rows = (0..7).fold(json!({"type": "string"}), |inner, _| {
            let cells = fields(8, |i| if i == 0 { inner.clone() } else { json!({}) });
            let row = json!({"type": ["object", "null"], "properties": cells});
            json!({"type": ["array", "null"], "items": row})
        });
        // One of two fields must be there, at each link of a chain.
        let link = |i: usize| {
            let next = json!({"next": reference(format!("a{}", i + 1))});
            let either = json!([{"required": ["a"]}, {"required": ["b"]}]);
            json!({"type": "object", "properties": next, "anyOf": either})
        };
        for real in [
            rows,
            definitions(18, link),
            definitions(5, union),
            definitions(300, mesh),
            json!({"allOf": (0..10).map(mixin).collect::<Vec<_>>()}),
            json!({
                "type": "object",
                "properties": {
                    "value": {"type": ["number", "null"], "description": "A number."},
                    "children": {"type": "array", "items": {"$ref": "#"}},
                    "ui": {"anyOf": [{"$ref": "#"}, {"type": "string", "enum": ["div", "button"]}]},
                },
                "required": ["value", "children", "ui"],
                "additionalProperties": false,
            }),
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "array", "items": [{"const": "a"}, {"type": "number"}], "additionalItems": false,
            }),
            with(
                objects(&fields(200, |_| json!({"type": "string"}))),
                &json!({"patternProperties": {"^x-": {}}, "additionalProperties": false}),
            ),
            json!({"type": "string", "enum": (0..20_000).map(|i| format!("w{i}")).collect::<Vec<_>>()}),
        ] {
            let text = real.to_string();
            assert!(is_accepted(&real), "{text:.300}");
        }
    }
}
