//! The filters, tests and functions of templates, each of which charges its work to the budget
//! before it runs.

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs, from_args};
use minijinja::{Environment, Error, State, Value, filters};

use super::budget::{Budget, KEEP, refuse};
use super::format_check::check_format;
use super::json::to_json;
use super::namespace::Namespace;
use super::python;
use super::text_filters;

/// How a filter visits its input.
type Look = fn(&Budget, &Value) -> Result<(), Error>;

/// Filters of the engine.
macro_rules! engine {
    ($($name:ident)*) => { [$((stringify!($name), Value::from_function(filters::$name))),*] };
}

pub(super) fn add_to(env: &mut Environment<'static>, budget: &Budget) {
    add_filters(env, budget);
    add_functions(env, budget);
    // Their output is long debug information for template authors.
    env.remove_filter("pprint");
    env.remove_global("debug");
    // Extensions of the engine, which templates for transformers cannot use.
    ["chain", "zip", "split", "lines", "bool"].iter().for_each(|name| env.remove_filter(name));

    let own = budget.clone();
    env.add_test(
        "in",
        move |state: &State, value: &Value, other: &Value| -> Result<bool, Error> {
            own.weigh(value)?;
            own.weigh(other)?;
            minijinja::tests::is_in(state, value, other)
        },
    );
    env.add_test("divisibleby", |value: &Value, by: &Value| -> Result<bool, Error> {
        let number = |value: &Value| i128::try_from(value.clone());
        let remainder = number(value)?.checked_rem(number(by)?);
        remainder.map(|rest| rest == 0).ok_or_else(|| refuse("nothing is divisible by 0"))
    });
}

fn add_filters(env: &mut Environment<'static>, budget: &Budget) {
    // These read only the top level.
    for (name, filter) in
        engine![abs attr default first float int items last length list round safe]
    {
        add_filter(env, budget, name, Budget::touch, filter);
    }
    // These iterate over the characters of a string as over the items of a list.
    for (name, filter) in engine![
        batch dictsort groupby map max min reject rejectattr reverse select selectattr slice sort
        unique
    ] {
        add_filter(env, budget, name, Budget::weigh_items, filter);
    }
    let visit: Look = |budget, value| budget.weigh(value).map(drop);
    for (name, filter) in
        engine![capitalize escape format indent join lower replace title trim upper]
    {
        add_filter(env, budget, name, visit, filter);
    }
    for (name, filter) in text_filters::all(budget) {
        add_filter(env, budget, name, visit, filter);
    }
    add_filter(env, budget, "count", Budget::touch, Value::from_function(filters::length));
    add_filter(env, budget, "d", Budget::touch, Value::from_function(filters::default));
    add_filter(env, budget, "e", visit, Value::from_function(filters::escape));
    let own = budget.clone();
    let filter = Value::from_function(move |values: &Value, options: Rest<ValueOrKwargs>| {
        sum(&own, values, &options.into_values())
    });
    add_filter(env, budget, "sum", Budget::weigh_items, filter);
    let own = budget.clone();
    let filter =
        Value::from_function(move |value: &Value, options: Kwargs| to_json(&own, value, &options));
    add_filter(env, budget, "tojson", visit, filter);
}

/// Adds a filter that charges its work before it does it.
fn add_filter(
    env: &mut Environment<'static>,
    budget: &Budget,
    name: &'static str,
    look: Look,
    filter: Value,
) {
    let budget = budget.clone();
    env.add_filter(name, move |state: &mut State, args: Rest<ValueOrKwargs>| {
        let mut args = args.into_values();
        if let [value, options @ ..] = &mut args[..] {
            look(&budget, value)?;
            budget.weigh_all(options)?;
            if name == "join" {
                *value = texts_of(value)?;
            }
            filter_work(&budget, name, value, options)?;
        }
        budget.settle(filter.call(state, &args)?)
    });
}

/// Charges what a filter makes of `value`, where that is more than its input.
fn filter_work(budget: &Budget, name: &str, value: &Value, options: &[Value]) -> Result<(), Error> {
    match (name, options) {
        ("replace", [from, to, ..]) => replace_work(budget, value, from, to),
        ("join", _) => join_work(budget, value, &option(options, 0, "d")),
        ("format", values) => check_format(budget, value, values),
        ("indent", _) => {
            let lines = text_of(value).matches('\n').count() + 1;
            budget.spend_times(lines, option(options, 0, "width").as_usize().unwrap_or(4))
        }
        ("sort", _) => {
            let keys = text_of(&option(options, 0, "attribute")).matches(',').count() + 1;
            budget.spend_times(value.len().unwrap_or(0) * keys, 4 * KEEP as usize)
        }
        ("batch", [count, ..]) => {
            budget.spend_times(count.as_usize().unwrap_or(0), 2 * KEEP as usize)
        }
        ("slice", [count, ..]) => {
            budget.spend_times(count.as_usize().unwrap_or(0), 4 * KEEP as usize)
        }
        ("trim", [characters, ..]) => {
            budget.spend_times(text_of(value).len(), text_of(characters).len())
        }
        ("list", _) => budget.spend_times(text_of(value).len(), KEEP as usize),
        // It would call itself.
        ("map", [filter, ..]) if filter.as_str() == Some("map") => {
            Err(refuse("`map` cannot apply `map`"))
        }
        _ => Ok(()),
    }
}

fn add_functions(env: &mut Environment<'static>, budget: &Budget) {
    let own = budget.clone();
    env.add_function("range", move |low: isize, high: Option<isize>, step: Option<isize>| {
        own.settle(minijinja::functions::range(low, high, step)?)
    });
    let own = budget.clone();
    env.add_function("dict", move |value: Option<Value>, update: Kwargs| {
        own.settle(minijinja::functions::dict(value, update)?)
    });
    let own = budget.clone();
    env.add_function("namespace", move |values: Option<ValueOrKwargs>| -> Result<Value, Error> {
        let namespace = Namespace::default();
        let values = values.map(ValueOrKwargs::into_value).filter(|values| !values.is_undefined());
        if let Some(values) = values {
            let map = values.as_object().filter(|_| values.kind() == ValueKind::Map);
            let map = map.ok_or_else(|| refuse("a namespace is made of names and values"))?;
            for (name, value) in map.try_iter_pairs().into_iter().flatten() {
                namespace.set(&own, name.as_str().unwrap_or_default(), value)?;
            }
        }
        Ok(Value::from_object(namespace))
    });
    env.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(refuse(message))
    });
}

/// An option of a filter, by its position or its name.
fn option(options: &[Value], at: usize, name: &str) -> Value {
    let named = options.last().filter(|last| last.is_kwargs());
    let named = named.and_then(|named| named.get_attr(name).ok());
    let positional = options.get(at).filter(|option| !option.is_kwargs());
    positional.cloned().or(named).unwrap_or_default()
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Charges the output length of `replace`.
pub(super) fn replace_work(
    budget: &Budget,
    text: &Value,
    from: &Value,
    to: &Value,
) -> Result<(), Error> {
    let text = text_of(text);
    let found = text.matches(text_of(from)).count();
    budget.spend(text.len() as u64)?;
    budget.spend_times(found, text_of(to).len())
}

/// Charges the output length of `join`.
pub(super) fn join_work(budget: &Budget, items: &Value, separator: &Value) -> Result<(), Error> {
    let bytes = budget.weigh(items)?;
    budget.spend(bytes)?;
    let count = items.len().unwrap_or(0);
    budget.spend_times(count, text_of(separator).len())
}

/// The items of a list as the texts that Python joins, where the engine would write others. A
/// dictionary stays: the filter may join one of its attributes.
pub(super) fn texts_of(items: &Value) -> Result<Value, Error> {
    if items.kind() != ValueKind::Seq {
        return Ok(items.clone());
    }
    let text = |item: Value| match item.kind() {
        ValueKind::Map => item,
        _ => python::text(&item).map_or(item, Value::from),
    };
    items.try_iter()?.checked().map(|item| item.map(text)).collect()
}

/// The sum of numbers, or of one of their attributes.
fn sum(budget: &Budget, values: &Value, options: &[Value]) -> Result<Value, Error> {
    let is_named = options.last().is_some_and(Value::is_kwargs);
    let (positional, named) = options.split_at(options.len() - usize::from(is_named));
    let (attribute, start): (Option<String>, Option<Value>) = from_args(positional)?;
    let (named,): (Kwargs,) = from_args(named)?;
    let attribute = attribute.or(named.get("attribute")?);
    let start = start.or(named.get("start")?);
    named.assert_all_used()?;
    let mut total = plus(&Value::from(0), &start.unwrap_or(Value::from(0)))?;
    for value in values.try_iter()?.checked() {
        budget.spend(KEEP)?;
        let value = value?;
        total = match &attribute {
            Some(name) => plus(&total, &value.get_attr(name)?)?,
            None => plus(&total, &value)?,
        };
    }
    Ok(total)
}

/// The sum of two numbers: an integer if both are.
fn plus(a: &Value, b: &Value) -> Result<Value, Error> {
    let real = |value: &Value| match i128::try_from(value.clone()) {
        Ok(whole) if value.is_integer() => Ok(whole as f64),
        _ => f64::try_from(value.clone()),
    };
    if !a.is_integer() || !b.is_integer() {
        return Ok(Value::from(real(a)? + real(b)?));
    }
    let sum = i128::try_from(a.clone())?.checked_add(i128::try_from(b.clone())?);
    let sum = sum.ok_or_else(|| refuse("unable to calculate a sum so large"))?;
    // In the type in which the engine is fastest.
    Ok(i64::try_from(sum).map_or_else(|_| Value::from(sum), Value::from))
}
