//! The methods of Python's strings, lists and dictionaries.
//!
//! What changes a list or a dictionary is refused, as in the sandbox of transformers.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, State, Value};

use super::args::{self, bind, required};
use super::budget::{Budget, refuse};
use super::collections::{hashable, pair};
use super::namespace::Namespace;
use super::objects::{Group, Method, Range, View};
use super::{python, strings};

const OF_LISTS: [&str; 3] = ["copy", "count", "index"];
const OF_TUPLES: [&str; 2] = ["count", "index"];
const OF_MAPS: [&str; 5] = ["copy", "get", "items", "keys", "values"];

/// Methods that change their value.
const CHANGING: [&str; 12] = [
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
    "discard",
];

/// Whether this is the name of a method, of whatever value.
pub(super) fn is_method(name: &str) -> bool {
    OF_MAPS.contains(&name) || OF_LISTS.contains(&name) || strings::NAMES.contains(&name)
}

impl Method {
    /// The method of a value, by its name. A dictionary's come before its items, as in Jinja.
    pub(super) fn of(budget: &Budget, value: &Value, name: &str) -> Option<Self> {
        let is_own = value.downcast_object_ref::<Namespace>().is_some()
            || value.downcast_object_ref::<View>().is_some()
            || value.downcast_object_ref::<Group>().is_some();
        let names = match value.kind() {
            ValueKind::String => &strings::NAMES[..],
            ValueKind::Map if !is_own => &OF_MAPS,
            ValueKind::Seq if is_own || value.is_tuple() => &OF_TUPLES,
            ValueKind::Seq => &OF_LISTS,
            _ => &[],
        };
        let name = names.iter().find(|known| **known == name)?;
        Some(Self { budget: budget.clone(), of: value.clone(), name })
    }
}

/// Charges a method's work to the budget, and calls it.
pub(super) fn call(
    budget: &Budget,
    _: &mut State,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    // A dictionary lookup takes the same time whatever its size.
    if value.kind() != ValueKind::Map {
        budget.weigh(value)?;
    }
    args.iter().try_for_each(|arg| budget.weigh(arg).map(drop))?;
    if let Some(text) = value.as_str() {
        if !matches!(method, "startswith" | "endswith") {
            budget.spend(text.len() as u64)?;
        }
        return strings::call(budget, text, method, args);
    }
    let is_list = value.kind() == ValueKind::Seq;
    let is_map =
        value.kind() == ValueKind::Map && value.downcast_object_ref::<Namespace>().is_none();
    if (is_list || is_map) && CHANGING.contains(&method) {
        return Err(refuse(format!(
            "`{method}` would change a value, which a chat template must not"
        )));
    }
    match method {
        "count" | "index" if is_list => find(value, method, args),
        "copy" if is_list && !value.is_tuple() => {
            args::none(args)?;
            budget.settle(Value::from(value.try_iter()?.collect::<Vec<Value>>()))
        }
        "copy" if is_map => {
            args::none(args)?;
            budget.weigh(value)?;
            Ok(Value::from_pairs(python::entries(value)))
        }
        "get" if is_map => {
            let (positional, None) = args::split(args) else {
                return Err(refuse("the arguments of `get` have no names"));
            };
            let [key, default] = bind(positional, ["key", "default"])?;
            let key = required(key)?;
            hashable(key.clone())?;
            let found = value.get_item(&key)?;
            Ok(if found.is_undefined() {
                default.unwrap_or_else(|| Value::from(()))
            } else {
                found
            })
        }
        "items" | "keys" | "values" if is_map => {
            args::none(args)?;
            budget.touch(value)?;
            let entries = python::entries(value);
            let (name, items) = match method {
                "keys" => ("keys", entries.map(|(key, _)| key).collect()),
                "values" => ("values", entries.map(|(_, item)| item).collect()),
                _ => ("items", entries.map(pair).collect()),
            };
            Ok(Value::from_object(View { name, items }))
        }
        _ => Err(Error::from(ErrorKind::UnknownMethod)),
    }
}

/// How often a value is in a list, or where.
fn find(list: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let [what, start, end] = bind(args, ["value", "start", "stop"])?;
    let what = required(what)?;
    let places = list.try_iter()?.enumerate().filter(|(_, item)| *item == what).map(|(at, _)| at);
    if method == "count" {
        return Ok(Value::from(places.count()));
    }
    let length = list.len().unwrap_or(0);
    let place = |value: Option<Value>, default: usize| -> Result<usize, Error> {
        let Some(value) = value else {
            return Ok(default);
        };
        let place = args::integer(&value)?;
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let place = if place < 0 {
            place.saturating_add(length).max(0)
        } else {
            place
        };
        Ok(usize::try_from(place).unwrap_or(0))
    };
    let within = place(start, 0)?..place(end, length)?;
    let mut places = places;
    let found = places.find(|at| within.contains(at));
    found
        .map(Value::from)
        .ok_or_else(|| refuse("a value is not in the list that should hold it"))
}

/// An attribute: a method that is not called, or whatever the engine finds.
pub(super) fn attribute(budget: &Budget, value: &Value, name: &str) -> Result<Value, Error> {
    match Method::of(budget, value, name) {
        Some(method) => Ok(Value::from_object(method)),
        None if value.downcast_object_ref::<Range>().is_some() => Ok(Value::UNDEFINED),
        None => value.get_attr(name),
    }
}
