//! The filters, tests and functions of templates, each of which charges its work to the budget
//! before it runs.

use minijinja::formatting::{self, FormatStyle};
use minijinja::functions::Function;
use minijinja::value::{
    FunctionArgs, FunctionResult, Kwargs, Rest, ValueKind, ValueOrKwargs, from_args,
};
use minijinja::{Environment, Error, State, Value, filters};

use super::budget::{Budget, KEEP, refuse};
use super::format_check::check_format;
use super::json::to_json;
use super::namespace::Namespace;
use super::python;
use super::text_filters;

/// A filter that charges a full visit of a value and returns it unchanged.
pub(super) const WEIGH: &str = "!weigh";
/// The same, treating a string as a list of its characters.
pub(super) const WEIGH_ITEMS: &str = "!weigh-items";
/// A filter that charges one pass over the top level of a value.
pub(super) const TOUCH: &str = "!touch";
/// A filter that materializes a value and charges for that.
pub(super) const SETTLE: &str = "!settle";
/// A filter that charges a full visit of a value and makes it a text, as Python does.
pub(super) const TEXT: &str = "!text";
/// The same for the items of a list that are to be joined.
pub(super) const TEXTS: &str = "!texts";
/// The operator `*`.
pub(super) const TIMES: &str = "!times";
/// The operator `%`.
pub(super) const REMAINDER: &str = "!remainder";
/// The function behind `{% set namespace.name = value %}`.
pub(super) const NAMESPACE_SET: &str = "!set";

/// Filters that `map` may apply to each item: their output is about as long as their input, or they
/// charge their own work.
const IN_MAP: &[&str] = &[
    "abs",
    "attr",
    "capitalize",
    "default",
    "d",
    "e",
    "escape",
    "first",
    "float",
    "int",
    "join",
    "last",
    "length",
    "list",
    "lower",
    "replace",
    "round",
    "string",
    "title",
    "tojson",
    "trim",
    "truncate",
    "upper",
    "urlencode",
    "wordcount",
];

/// The longest string or list that `*` makes.
const MAX_REPEATED: usize = 100_000_000;

pub(super) fn add_to(env: &mut Environment<'static>, budget: &Budget) {
    add_accounts(env, budget);
    add_filters(env, budget);
    text_filters::add_to(env, budget);
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

/// The filters that count the work of operators.
fn add_accounts(env: &mut Environment<'static>, budget: &Budget) {
    let own = budget.clone();
    env.add_filter(WEIGH, move |value: ValueOrKwargs| -> Result<Value, Error> {
        own.weigh(&value)?;
        Ok(value.into_value())
    });
    let own = budget.clone();
    env.add_filter(WEIGH_ITEMS, move |value: ValueOrKwargs| -> Result<Value, Error> {
        own.weigh(&value)?;
        own.spend(KEEP * value.as_str().map_or(0, str::len) as u64)?;
        Ok(value.into_value())
    });
    let own = budget.clone();
    env.add_filter(TOUCH, move |value: ValueOrKwargs| -> Result<Value, Error> {
        own.touch(&value)?;
        Ok(value.into_value())
    });
    let own = budget.clone();
    env.add_filter(SETTLE, move |value: ValueOrKwargs| own.settle(value.into_value()));
    let own = budget.clone();
    env.add_filter(TEXT, move |value: &Value| -> Result<Value, Error> {
        own.weigh(value)?;
        Ok(python::text(value).map_or_else(|| value.clone(), Value::from))
    });
    let own = budget.clone();
    env.add_filter(TEXTS, move |items: &Value| -> Result<Value, Error> {
        own.weigh(items)?;
        texts_of(items)
    });
    let own = budget.clone();
    env.add_filter(REMAINDER, move |a: &Value, b: &Value| remainder(&own, a, b));
    let own = budget.clone();
    env.add_filter(TIMES, move |a: &Value, b: &Value| times(&own, a, b));
}

fn add_filters(env: &mut Environment<'static>, budget: &Budget) {
    guard(env, budget, "replace", filters::replace, |budget, args| match args {
        [text, from, to] => replace_work(budget, text, from, to),
        _ => Ok(()),
    });
    guard(env, budget, "join", filters::join, |budget, args| match args {
        [items, separator, ..] if !separator.is_kwargs() => join_work(budget, items, separator),
        [items, ..] => budget.weigh(items).and_then(|bytes| budget.spend(bytes)),
        [] => Ok(()),
    });
    guard(env, budget, "format", filters::format, |budget, args| match args {
        [text, rest @ ..] => check_format(budget, text, rest),
        [] => Ok(()),
    });
    guard(env, budget, "indent", filters::indent, |budget, args| {
        let lines = text_of(args.first()).matches('\n').count() + 1;
        let width = args
            .last()
            .filter(|last| last.is_kwargs())
            .and_then(|named| named.get_attr("width").ok());
        let width =
            [args.get(1).cloned(), width].into_iter().flatten().find_map(|width| width.as_usize());
        budget.spend_times(lines, width.unwrap_or(4))
    });
    guard(env, budget, "batch", filters::batch, |budget, args| {
        budget.spend_times(number_of(args.get(1)), 2 * KEEP as usize)
    });
    guard(env, budget, "slice", filters::slice, |budget, args| {
        budget.spend_times(number_of(args.get(1)), 4 * KEEP as usize)
    });
    guard(env, budget, "trim", filters::trim, |budget, args| {
        budget.spend_times(text_of(args.first()).len(), text_of(args.get(1)).len())
    });
    guard(env, budget, "list", filters::list, |budget, args| {
        budget.spend_times(text_of(args.first()).len(), KEEP as usize)
    });
    guard(env, budget, "map", filters::map, |_, args| {
        match args.get(1).and_then(Value::as_str) {
            Some(name) if !IN_MAP.contains(&name) => {
                Err(refuse(format!("`map` cannot apply `{name}`")))
            }
            _ => Ok(()),
        }
    });
    let own = budget.clone();
    env.add_filter("sum", move |values: &Value, options: Rest<ValueOrKwargs>| {
        sum(&own, values, &options.into_values())
    });
    let own = budget.clone();
    env.add_filter("tojson", move |value: &Value, options: Kwargs| to_json(&own, value, &options));
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
                set(&own, &namespace, &name, value)?;
            }
        }
        Ok(Value::from_object(namespace))
    });
    let own = budget.clone();
    env.add_function(NAMESPACE_SET, move |target: &Value, name: &Value, value: Value| {
        let Some(namespace) = target.downcast_object_ref::<Namespace>() else {
            return Err(refuse("only a namespace has names that can be set"));
        };
        set(&own, namespace, name, value).map(|()| Value::UNDEFINED)
    });
    env.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(refuse(message))
    });
}

fn set(budget: &Budget, into: &Namespace, name: &Value, value: Value) -> Result<(), Error> {
    if value.downcast_object_ref::<Namespace>().is_some() {
        return Err(refuse("a namespace cannot be kept in a list or in a namespace"));
    }
    into.set(name.as_str().unwrap_or_default(), budget.settle(value)?);
    Ok(())
}

/// Adds a budget check before one of the engine's filters.
fn guard<F, Rv, Args>(
    env: &mut Environment<'static>,
    budget: &Budget,
    name: &'static str,
    filter: F,
    check: impl Fn(&Budget, &[Value]) -> Result<(), Error> + Send + Sync + 'static,
) where
    F: Function<Rv, Args>,
    Rv: FunctionResult,
    Args: for<'a> FunctionArgs<'a>,
{
    let inner = format!("!{name}");
    env.add_filter(inner.clone(), filter);
    let budget = budget.clone();
    env.add_filter(name, move |state: &mut State, args: Rest<ValueOrKwargs>| {
        let args = args.into_values();
        check(&budget, &args)?;
        state.apply_filter(&inner, &args)
    });
}

fn text_of(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

fn number_of(value: Option<&Value>) -> usize {
    value.and_then(Value::as_usize).unwrap_or_default()
}

/// Charges the output length of `replace`.
pub(super) fn replace_work(
    budget: &Budget,
    text: &Value,
    from: &Value,
    to: &Value,
) -> Result<(), Error> {
    let text = text_of(Some(text));
    let found = text.matches(text_of(Some(from))).count();
    budget.spend(text.len() as u64)?;
    budget.spend_times(found, text_of(Some(to)).len())
}

/// Charges the output length of `join`.
pub(super) fn join_work(budget: &Budget, items: &Value, separator: &Value) -> Result<(), Error> {
    let bytes = budget.weigh(items)?;
    budget.spend(bytes)?;
    let count = items.len().unwrap_or(0);
    budget.spend_times(count, text_of(Some(separator)).len())
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

/// `a % b`, for two numbers, or for a format and what it formats: a tuple of values, a dictionary, or
/// one value.
fn remainder(budget: &Budget, a: &Value, b: &Value) -> Result<Value, Error> {
    let Some(text) = a.as_str() else {
        return rest_of_division(a, b);
    };
    let values = if b.is_tuple() {
        b.try_iter()?.collect()
    } else {
        vec![b.clone()]
    };
    check_format(budget, a, &values)?;
    let places = text.replace("%%", "").matches('%').count();
    // Python looks names up in a list too, and finds that none was asked for.
    let is_lookup = matches!(b.kind(), ValueKind::Map | ValueKind::Seq) && !b.is_tuple();
    if values.len() > places && !is_lookup {
        return Err(refuse(format!("`%` has more values than the {places} places of its format")));
    }
    formatting::format(FormatStyle::Printf, text, &values).map(Value::from)
}

/// `a * b`, for two numbers, or for a string or list and its repeat count.
fn times(budget: &Budget, a: &Value, b: &Value) -> Result<Value, Error> {
    let repeated = |value: &Value| value.as_str().is_some() || value.as_object().is_some();
    let (what, count) = if repeated(a) { (a, b) } else { (b, a) };
    if !repeated(what) {
        return multiply(a, b);
    }
    let count = count
        .as_usize()
        .ok_or_else(|| refuse("a text or list is repeated a whole number of times"))?;
    let length = what.as_str().map(str::len).or_else(|| what.len()).unwrap_or(0);
    if length.checked_mul(count).is_none_or(|length| length > MAX_REPEATED) {
        return Err(refuse("what is repeated is too large"));
    }
    if let Some(text) = what.as_str() {
        budget.spend_times(length, count)?;
        return Ok(Value::from(text.repeat(count)));
    }
    budget.spend_times(length * count, KEEP as usize)?;
    let items: Vec<Value> = what.try_iter()?.collect();
    let items = (0..count).flat_map(|_| items.iter().cloned());
    budget.settle(if what.is_tuple() {
        Value::from(minijinja::value::Tuple::from(items.collect::<Vec<_>>()))
    } else {
        items.collect()
    })
}

fn multiply(a: &Value, b: &Value) -> Result<Value, Error> {
    // A float operand makes the product a float.
    if a.is_integer() && b.is_integer() {
        let product = i128::try_from(a.clone())?.checked_mul(i128::try_from(b.clone())?);
        let product = product.ok_or_else(|| refuse("unable to calculate a product so large"))?;
        return Ok(whole(product));
    }
    Ok(Value::from(f64::try_from(a.clone())? * f64::try_from(b.clone())?))
}

/// The rest of a division, which has the sign of the divisor.
fn rest_of_division(a: &Value, b: &Value) -> Result<Value, Error> {
    if a.is_integer() && b.is_integer() {
        let (a, b) = (i128::try_from(a.clone())?, i128::try_from(b.clone())?);
        let rest = a.checked_rem(b).ok_or_else(|| refuse("`%` has no result for these numbers"))?;
        let rest = if rest != 0 && (rest < 0) != (b < 0) {
            rest + b
        } else {
            rest
        };
        return Ok(whole(rest));
    }
    let (a, b) = (f64::try_from(a.clone())?, f64::try_from(b.clone())?);
    if b == 0.0 {
        return Err(refuse("`%` has no result for these numbers"));
    }
    let rest = a % b;
    let rest = if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        rest + b
    } else {
        rest
    };
    Ok(Value::from(if rest == 0.0 { rest.copysign(b) } else { rest }))
}

/// An integer, in the type in which the engine is fastest.
fn whole(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::from(number), Value::from)
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
    let mut total = Sum::new(start.as_ref())?;
    for value in values.try_iter()?.checked() {
        budget.spend(KEEP)?;
        let value = value?;
        total = total.plus(&match &attribute {
            Some(name) => value.get_attr(name)?,
            None => value,
        })?;
    }
    Ok(total.into_value())
}

/// A sum: an integer while all numbers are integers.
enum Sum {
    Whole(i128),
    Real(f64),
}

impl Sum {
    fn new(start: Option<&Value>) -> Result<Self, Error> {
        start.map_or(Ok(Sum::Whole(0)), |start| Sum::Whole(0).plus(start))
    }

    fn plus(self, value: &Value) -> Result<Self, Error> {
        match self {
            Sum::Whole(sum) if value.is_integer() => {
                let sum = sum.checked_add(i128::try_from(value.clone())?);
                sum.map(Sum::Whole).ok_or_else(|| refuse("unable to calculate a sum so large"))
            }
            Sum::Whole(sum) => Ok(Sum::Real(sum as f64 + f64::try_from(value.clone())?)),
            Sum::Real(sum) => Ok(Sum::Real(sum + f64::try_from(value.clone())?)),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Sum::Whole(sum) => whole(sum),
            Sum::Real(sum) => Value::from(sum),
        }
    }
}
