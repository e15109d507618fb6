//! The filters that a rewritten template calls: some charge the operands of an instruction, and
//! others take the place of one.

use std::cmp::Ordering;
use std::sync::LazyLock;

use minijinja::value::{Rest, Tuple, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, Expression, Value, context};

use super::budget::{Budget, KEEP, refuse};
use super::namespace::Namespace;
use super::objects::Macro;
use super::python::{self, Number};
use super::{args, format, methods};

/// Charges a full visit of all operands.
pub(super) const WEIGH: &str = "!weigh";
/// The same, treating strings as lists of their characters.
pub(super) const WEIGH_ITEMS: &str = "!weigh-items";
/// Charges one pass over the top level of the first operand, and a full visit of the others.
pub(super) const TOUCH: &str = "!touch";
/// Charges a pass over what a loop goes through, and refuses `none`.
pub(super) const LOOP: &str = "!loop";
/// Charges a full visit of what is looked for in what, and refuses what cannot be.
pub(super) const WITHIN: &str = "!within";
/// The operators `<`, `<=`, `>` and `>=`.
pub(super) const LESS: &str = "!less";
pub(super) const AT_MOST: &str = "!at-most";
pub(super) const MORE: &str = "!more";
pub(super) const AT_LEAST: &str = "!at-least";
/// The operator `*`.
pub(super) const PRODUCT: &str = "!product";
/// What several variables are set from: the characters of a text.
pub(super) const UNPACK: &str = "!unpack";
/// `value.name`, where this is the name of a method.
pub(super) const ATTRIBUTE: &str = "!attribute";
/// A macro of the engine to one of Jinja.
pub(super) const MACRO: &str = "!macro";
/// Materializes a value and charges for that.
pub(super) const SETTLE: &str = "!settle";
/// The operator `~`.
pub(super) const CONCAT: &str = "!concat";
/// The operator `%`.
pub(super) const REMAINDER: &str = "!remainder";
/// `{% set namespace.name = value %}`.
pub(super) const NAMESPACE_SET: &str = "!set";

pub(super) fn add_to(env: &mut Environment<'static>, budget: &Budget) {
    add_charge(env, budget, WEIGH, Budget::weigh_all);
    add_charge(env, budget, WEIGH_ITEMS, |budget, operands| {
        operands.iter().try_for_each(|value| budget.weigh_items(value))
    });
    add_charge(env, budget, TOUCH, |budget, operands| match operands {
        [value, rest @ ..] => budget.touch(value).and_then(|()| budget.weigh_all(rest)),
        [] => Ok(()),
    });
    add_charge(env, budget, LOOP, |budget, operands| {
        operands
            .iter()
            .try_for_each(|value| budget.touch(value).and_then(|()| check_items(value)))
    });
    add_charge(env, budget, WITHIN, |budget, operands| {
        budget.weigh_all(operands).and_then(|()| check_in(operands))
    });
    type Order = (&'static str, fn(Ordering) -> bool);
    let orders: [Order; 4] = [
        (LESS, Ordering::is_lt),
        (AT_MOST, Ordering::is_le),
        (MORE, Ordering::is_gt),
        (AT_LEAST, Ordering::is_ge),
    ];
    for (name, is) in orders {
        let own = budget.clone();
        env.add_filter(name, move |a: &Value, b: &Value| -> Result<bool, Error> {
            own.weigh(a)?;
            own.weigh(b)?;
            python::compare(a, b).map(is)
        });
    }
    let own = budget.clone();
    env.add_filter(PRODUCT, move |a: &Value, b: &Value| product(&own, a, b));
    let own = budget.clone();
    env.add_filter(UNPACK, move |value: Value| match value.as_str() {
        // Before there is a list, which takes many times the memory of the text.
        Some(text) => own
            .spend_times(text.len(), KEEP as usize)
            .map(|()| text.chars().map(Value::from).collect()),
        None => Ok(value),
    });
    let own = budget.clone();
    env.add_filter(ATTRIBUTE, move |value: &Value, name: &str| {
        methods::attribute(&own, value, name)
    });
    env.add_filter(MACRO, |value: Value| Macro::new(value).map(Value::from_object));
    let own = budget.clone();
    env.add_filter(SETTLE, move |value: ValueOrKwargs| own.settle(value.into_value()));
    let own = budget.clone();
    env.add_filter(CONCAT, move |a: &Value, b: &Value| -> Result<Value, Error> {
        own.spend(own.weigh(a)? + own.weigh(b)?)?;
        Ok(Value::from(python::printed(a) + &python::printed(b)))
    });
    let own = budget.clone();
    env.add_filter(REMAINDER, move |a: &Value, b: &Value| remainder(&own, a, b));
    let own = budget.clone();
    env.add_filter(NAMESPACE_SET, move |value: Value, target: &Value, name: &str| {
        let Some(namespace) = target.downcast_object_ref::<Namespace>() else {
            return Err(refuse("only a namespace has names that can be set"));
        };
        namespace.set(&own, name, value).map(|()| Value::UNDEFINED)
    });
}

/// Adds a filter that charges its operands. Unpacking what it returns puts them back on the stack.
fn add_charge(
    env: &mut Environment<'static>,
    budget: &Budget,
    name: &'static str,
    charge: impl Fn(&Budget, &[Value]) -> Result<(), Error> + Send + Sync + 'static,
) {
    let budget = budget.clone();
    env.add_filter(name, move |operands: Rest<ValueOrKwargs>| -> Result<Value, Error> {
        let mut operands = operands.into_values();
        charge(&budget, &operands)?;
        // The first item is unpacked last.
        operands.reverse();
        Ok(Value::from(Tuple::from(operands)))
    });
}

/// `a % b`, for two numbers, or for a format and what it formats: a tuple of values, a dictionary, or
/// one value.
fn remainder(budget: &Budget, a: &Value, b: &Value) -> Result<Value, Error> {
    let Some(text) = a.as_str() else {
        return plain(&REMAINDERS, a, b);
    };
    budget.weigh(b)?;
    let values = if b.is_tuple() {
        b.try_iter()?.collect()
    } else {
        vec![b.clone()]
    };
    // Python looks names up in a list too, and finds that none was asked for.
    let is_lookup = matches!(b.kind(), ValueKind::Map | ValueKind::Seq) && !b.is_tuple();
    format::printf(budget, text, &values, is_lookup.then_some(b))
}

/// `a * b`, for two numbers, or for a text or a list and how often it is repeated.
fn product(budget: &Budget, a: &Value, b: &Value) -> Result<Value, Error> {
    let is_repeated = |value: &Value| value.as_str().is_some() || value.kind() == ValueKind::Seq;
    let (what, count) = match (is_repeated(a), is_repeated(b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => {
            let number =
                |value: &Value| Number::of(value).map_or_else(|| value.clone(), Value::from);
            return plain(&PRODUCTS, &number(a), &number(b));
        }
    };
    let count = usize::try_from(args::integer(count)?).unwrap_or(0);
    if let Some(text) = what.as_str() {
        budget.spend_times(text.len(), count)?;
        return Ok(Value::from(text.repeat(count)));
    }
    let items = what.try_iter()?.collect::<Vec<Value>>();
    budget.spend_times(items.len().saturating_mul(count), KEEP as usize)?;
    let items: Vec<Value> = std::iter::repeat_n(items, count).flatten().collect();
    Ok(if what.is_tuple() {
        Value::from(Tuple::from(items))
    } else {
        Value::from(items)
    })
}

/// The engine has its operators in expressions only.
type Operator = LazyLock<Result<Expression<'static, 'static>, Error>>;

static PLAIN: LazyLock<Environment<'static>> = LazyLock::new(Environment::empty);
static REMAINDERS: Operator = LazyLock::new(|| PLAIN.compile_expression("a % b"));
static PRODUCTS: Operator = LazyLock::new(|| PLAIN.compile_expression("a * b"));

fn plain(operator: &Operator, a: &Value, b: &Value) -> Result<Value, Error> {
    let operator = operator.as_ref().map_err(|error| refuse(error.to_string()))?;
    operator.eval(context! { a, b })
}

/// What a loop goes through. The engine takes `none` for no items.
fn check_items(value: &Value) -> Result<(), Error> {
    if value.is_none() {
        Err(refuse("`none` has no items to go through"))
    } else {
        Ok(())
    }
}

/// Whether a text is looked for in a text.
fn check_in(operands: &[Value]) -> Result<(), Error> {
    match operands {
        [what, within] if within.as_str().is_some() && what.as_str().is_none() => {
            Err(refuse(format!("{} cannot be in a text", what.kind())))
        }
        _ => Ok(()),
    }
}
