//! Jinja's filters of lists and dictionaries.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, Value};

use super::args::{self, bind, given, is_true, required};
use super::budget::{Budget, KEEP, refuse};
use super::library::OwnFilter;
use super::namespace::Namespace;
use super::objects::{Group, Method};
use super::python::{self, Number};

/// Filters that read only the top level of their input.
pub(super) const SHALLOW: [(&str, OwnFilter); 8] = [
    ("attr", attr),
    ("default", default),
    ("d", default),
    ("first", first),
    ("items", items),
    ("last", last),
    ("length", length),
    ("count", length),
];

/// Filters that visit the items of their input. A text is a list of its characters.
pub(super) const DEEP: [(&str, OwnFilter); 12] = [
    ("batch", batch),
    ("dictsort", dictsort),
    ("groupby", groupby),
    ("join", join),
    ("list", list),
    ("max", max),
    ("min", min),
    ("reverse", reverse),
    ("slice", slice),
    ("sort", sort),
    ("sum", sum),
    ("unique", unique),
];

/// The items of a list, the keys of a dictionary, the characters of a text. An undefined value has
/// none.
pub(super) fn iterate(value: &Value) -> Result<Vec<Value>, Error> {
    match value.kind() {
        ValueKind::Undefined => Ok(Vec::new()),
        ValueKind::String => {
            Ok(value.as_str().unwrap_or_default().chars().map(Value::from).collect())
        }
        ValueKind::None => Err(refuse("`none` has no items")),
        _ => value.try_iter()?.checked().collect(),
    }
}

fn default(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, default, boolean] = bind(values, ["value", "default_value", "boolean"])?;
    let value = required(value)?;
    let is_missing = value.is_undefined() || is_true(boolean.as_ref()) && !value.is_true();
    Ok(if is_missing {
        default.unwrap_or_else(|| Value::from(""))
    } else {
        value
    })
}

/// An attribute, and never an item: the methods of a value, or what a namespace holds.
fn attr(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [object, name] = bind(values, ["obj", "name"])?;
    let (object, name) = (required(object)?, required(name)?);
    let Some(name) = name.as_str() else {
        return Ok(Value::UNDEFINED);
    };
    if let Some(method) = Method::of(budget, &object, name) {
        return Ok(Value::from_object(method));
    }
    let has_attributes = object.downcast_object_ref::<Namespace>().is_some()
        || object.downcast_object_ref::<Group>().is_some();
    if has_attributes {
        object.get_attr(name)
    } else {
        Ok(Value::UNDEFINED)
    }
}

fn items(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value] = bind(values, ["value"])?;
    let value = required(value)?;
    match value.kind() {
        ValueKind::Undefined => Ok(Value::from(Vec::<Value>::new())),
        ValueKind::Map => Ok(Value::from(python::entries(&value).map(pair).collect::<Vec<_>>())),
        kind => Err(refuse(format!("{kind} has no pairs of names and values"))),
    }
}

pub(super) fn pair((key, value): (Value, Value)) -> Value {
    Value::from(Tuple::from([key, value]))
}

fn first(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value] = bind(values, ["seq"])?;
    let value = required(value)?;
    match value.as_str() {
        Some(text) => Ok(text.chars().next().map_or(Value::UNDEFINED, Value::from)),
        None if value.is_undefined() => Ok(Value::UNDEFINED),
        None if value.is_none() => Err(refuse("`none` has no items")),
        None => value.try_iter()?.checked().next().unwrap_or(Ok(Value::UNDEFINED)),
    }
}

fn last(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value] = bind(values, ["seq"])?;
    let value = required(value)?;
    match (value.as_str(), value.kind(), value.len()) {
        (Some(text), ..) => Ok(text.chars().next_back().map_or(Value::UNDEFINED, Value::from)),
        (None, ValueKind::Seq, Some(1..)) => {
            let last = value.len().unwrap_or(1) - 1;
            value.get_item(&Value::from(last))
        }
        _ => Ok(iterate(&value)?.pop().unwrap_or(Value::UNDEFINED)),
    }
}

fn length(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value] = bind(values, ["obj"])?;
    let value = required(value)?;
    let length = if value.is_undefined() {
        Some(0)
    } else {
        value.len()
    };
    let length = length.ok_or_else(|| refuse(format!("{} has no length", value.kind())))?;
    Ok(Value::from(length))
}

fn list(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value] = bind(values, ["value"])?;
    let value = required(value)?;
    budget.spend_times(value.as_str().map_or(0, str::len), KEEP as usize)?;
    Ok(Value::from(iterate(&value)?))
}

fn reverse(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value] = bind(values, ["value"])?;
    let value = required(value)?;
    if let Some(text) = value.as_str() {
        return Ok(Value::from(text.chars().rev().collect::<String>()));
    }
    let mut items = iterate(&value)?;
    items.reverse();
    Ok(Value::from(items))
}

/// A part of an item: by a name, a place, or a path of both. Jinja looks up no further in what is
/// not there.
fn part(item: &Value, path: &Value, default: Option<&Value>) -> Result<Value, Error> {
    let Some(text) = path.as_str() else {
        return look_up(item, path, default);
    };
    let mut found = item.clone();
    for name in text.split('.') {
        let is_place = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let key = name.parse::<u64>().ok().filter(|_| is_place);
        found = look_up(&found, &key.map_or_else(|| Value::from(name), Value::from), default)?;
    }
    Ok(found)
}

fn look_up(item: &Value, key: &Value, default: Option<&Value>) -> Result<Value, Error> {
    let found = item.get_item(key)?;
    Ok(match default {
        Some(default) if found.is_undefined() => default.clone(),
        _ => found,
    })
}

/// A key that does not tell letters by their case.
fn without_case(key: Value) -> Value {
    match key.as_str() {
        Some(text) => Value::from(text.to_lowercase()),
        None => key,
    }
}

fn key_of(item: &Value, attribute: Option<&Value>, has_case: bool) -> Result<Value, Error> {
    let key = match attribute {
        Some(path) => part(item, path, None)?,
        None => item.clone(),
    };
    Ok(if has_case { key } else { without_case(key) })
}

/// Sorts pairs of a key and an item by their keys.
fn sorted(mut keyed: Vec<(Value, Value)>, is_reversed: bool) -> Result<Vec<(Value, Value)>, Error> {
    // Equal items keep their order in both directions.
    if is_reversed {
        keyed.reverse();
    }
    python::sort(&mut keyed, |a, b| python::compare(&a.0, &b.0))?;
    if is_reversed {
        keyed.reverse();
    }
    Ok(keyed)
}

fn sort(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, reverse, has_case, attribute] =
        bind(values, ["value", "reverse", "case_sensitive", "attribute"])?;
    let (has_case, attribute) = (is_true(has_case.as_ref()), given(attribute));
    let paths: Option<Vec<Value>> = attribute.map(|attribute| match attribute.as_str() {
        Some(text) => text.split(',').map(|path| Value::from(path.trim())).collect(),
        None => vec![attribute],
    });
    let items = iterate(&required(value)?)?;
    let keys = paths.as_ref().map_or(1, Vec::len);
    budget.spend_times(items.len().saturating_mul(keys), 4 * KEEP as usize)?;
    let key = |item: &Value| match &paths {
        None => key_of(item, None, has_case),
        Some(paths) => {
            let keys = paths.iter().map(|path| key_of(item, Some(path), has_case));
            keys.collect::<Result<Vec<Value>, Error>>().map(Value::from)
        }
    };
    let keyed = items.into_iter().map(|item| Ok((key(&item)?, item)));
    let keyed = sorted(keyed.collect::<Result<_, Error>>()?, is_true(reverse.as_ref()))?;
    Ok(keyed.into_iter().map(|(_, item)| item).collect::<Vec<Value>>().into())
}

fn dictsort(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, has_case, by, reverse] =
        bind(values, ["value", "case_sensitive", "by", "reverse"])?;
    let by_value = match by.as_ref().map(Value::as_str) {
        None | Some(Some("key")) => false,
        Some(Some("value")) => true,
        _ => return Err(refuse("a dictionary is sorted by `key` or by `value`")),
    };
    let (value, has_case) = (required(value)?, is_true(has_case.as_ref()));
    if value.kind() != ValueKind::Map {
        return Err(refuse(format!(
            "{} is no dictionary, and cannot be sorted as one",
            value.kind()
        )));
    }
    let keyed = python::entries(&value).map(|(name, value)| {
        let key = if by_value {
            value.clone()
        } else {
            name.clone()
        };
        (if has_case { key } else { without_case(key) }, pair((name, value)))
    });
    let keyed = sorted(keyed.collect(), is_true(reverse.as_ref()))?;
    Ok(keyed.into_iter().map(|(_, pair)| pair).collect::<Vec<Value>>().into())
}

fn min(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    extreme(values, Ordering::Less)
}

fn max(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    extreme(values, Ordering::Greater)
}

/// The first of the least or greatest items.
fn extreme(values: &[Value], wanted: Ordering) -> Result<Value, Error> {
    let [value, has_case, attribute] = bind(values, ["value", "case_sensitive", "attribute"])?;
    let (has_case, attribute) = (is_true(has_case.as_ref()), given(attribute));
    let mut found: Option<(Value, Value)> = None;
    for item in iterate(&required(value)?)? {
        let key = key_of(&item, attribute.as_ref(), has_case)?;
        let is_better = match &found {
            Some((best, _)) => python::compare(&key, best)? == wanted,
            None => true,
        };
        if is_better {
            found = Some((key, item));
        }
    }
    Ok(found.map_or(Value::UNDEFINED, |(_, item)| item))
}

fn unique(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, has_case, attribute] = bind(values, ["value", "case_sensitive", "attribute"])?;
    let (has_case, attribute) = (is_true(has_case.as_ref()), given(attribute));
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for item in iterate(&required(value)?)? {
        let key = hashable(key_of(&item, attribute.as_ref(), has_case)?)?;
        if seen.insert(key) {
            kept.push(item);
        }
    }
    Ok(Value::from(kept))
}

/// A value as a key, in which true is 1 and 1.0 too.
pub(super) fn hashable(value: Value) -> Result<Value, Error> {
    match (Number::of(&value), value.kind()) {
        (Some(Number::Whole(whole)), _) => Ok(Value::from(whole)),
        (Some(Number::Real(real)), _) if real.fract() == 0.0 && real.abs() < 1e18 => {
            Ok(Value::from(real as i128))
        }
        (None, ValueKind::Seq) if value.is_tuple() => {
            let items = value.try_iter()?.map(hashable).collect::<Result<Vec<Value>, Error>>()?;
            Ok(Value::from(Tuple::from(items)))
        }
        (None, ValueKind::Seq | ValueKind::Map) => {
            Err(refuse(format!("{} cannot be a key", value.kind())))
        }
        _ => Ok(value),
    }
}

fn groupby(_: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, attribute, default, has_case] =
        bind(values, ["value", "attribute", "default", "case_sensitive"])?;
    let (attribute, default) = (required(attribute)?, given(default));
    let has_case = is_true(has_case.as_ref());
    let key = |item: &Value| part(item, &attribute, default.as_ref());
    let fold = |key: Value| if has_case { key } else { without_case(key) };
    let items = iterate(&required(value)?)?.into_iter();
    let keyed = items.map(|item| Ok((fold(key(&item)?), item)));
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for (folded, item) in sorted(keyed.collect::<Result<_, Error>>()?, false)? {
        match groups.last_mut() {
            Some((last, list)) if *last == folded => list.push(item),
            _ => groups.push((folded, vec![item])),
        }
    }
    let groups = groups.into_iter().map(|(folded, list)| {
        // Under the key of its first item, as it is written there.
        let grouper = list.first().map_or(Ok(folded), &key)?;
        Ok(Value::from_object(Group { grouper, list: Value::from(list) }))
    });
    Ok(Value::from(groups.collect::<Result<Vec<Value>, Error>>()?))
}

/// Charges the output length of `join`, and joins.
pub(super) fn join_texts(
    budget: &Budget,
    texts: &[String],
    separator: &str,
) -> Result<Value, Error> {
    budget.spend(texts.iter().map(|text| text.len() as u64).sum())?;
    budget.spend_times(texts.len(), separator.len())?;
    Ok(Value::from(texts.join(separator)))
}

fn join(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, separator, attribute] = bind(values, ["value", "d", "attribute"])?;
    let attribute = given(attribute);
    let separator = separator.map(|separator| python::printed(&separator)).unwrap_or_default();
    let text = |item: Value| match &attribute {
        Some(path) => part(&item, path, None).map(|part| python::printed(&part)),
        None => Ok(python::printed(&item)),
    };
    let texts = iterate(&required(value)?)?.into_iter().map(text);
    join_texts(budget, &texts.collect::<Result<Vec<String>, Error>>()?, &separator)
}

fn sum(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, attribute, start] = bind(values, ["iterable", "attribute", "start"])?;
    let attribute = given(attribute);
    let mut total = start.unwrap_or_else(|| Value::from(0));
    if total.as_str().is_some() {
        return Err(refuse("`sum` does not add texts: `join` does"));
    }
    for item in iterate(&required(value)?)? {
        let item = match &attribute {
            Some(path) => part(&item, path, None)?,
            None => item,
        };
        budget.spend(KEEP + total.len().unwrap_or(0) as u64 * KEEP)?;
        total = python::add(&total, &item)?;
    }
    Ok(total)
}

fn batch(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, count, fill] = bind(values, ["value", "linecount", "fill_with"])?;
    let count = args::integer(&required(count)?)?;
    let width = usize::try_from(count).ok();
    let mut rows: Vec<Value> = Vec::new();
    let mut row: Vec<Value> = Vec::new();
    for item in iterate(&required(value)?)? {
        if Some(row.len()) == width {
            rows.push(Value::from(std::mem::take(&mut row)));
        }
        row.push(item);
    }
    if let (Some(fill), Some(width)) = (given(fill), width)
        && !row.is_empty()
        && row.len() < width
    {
        budget.spend_times(width, 2 * KEEP as usize)?;
        row.resize(width, fill);
    }
    if !row.is_empty() {
        rows.push(Value::from(row));
    }
    Ok(Value::from(rows))
}

fn slice(budget: &Budget, values: &[Value]) -> Result<Value, Error> {
    let [value, count, fill] = bind(values, ["value", "slices", "fill_with"])?;
    let count = args::count_or(count, 0)?;
    if count == 0 {
        return Err(refuse("a list is not cut into 0 slices"));
    }
    budget.spend_times(count, 4 * KEEP as usize)?;
    let (items, fill) = (iterate(&required(value)?)?, given(fill));
    let (each, longer) = (items.len() / count, items.len() % count);
    let mut slices = Vec::new();
    let mut rest = items.as_slice();
    for index in 0..count {
        let (slice, after) = rest.split_at(each + usize::from(index < longer));
        rest = after;
        let mut slice = slice.to_vec();
        if index >= longer {
            slice.extend(fill.clone());
        }
        slices.push(Value::from(slice));
    }
    Ok(Value::from(slices))
}
