//! The filters that a rewritten template calls: some charge the operands of an instruction, and
//! others take the place of one.

use std::sync::LazyLock;

use minijinja::formatting::{self, FormatStyle};
use minijinja::value::{Rest, Tuple, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, Expression, Value, context};

use super::budget::{Budget, KEEP, refuse};
use super::format_check::check_format;
use super::namespace::Namespace;
use super::python;

/// Charges a full visit of all operands.
pub(super) const WEIGH: &str = "!weigh";
/// The same, treating strings as lists of their characters.
pub(super) const WEIGH_ITEMS: &str = "!weigh-items";
/// Charges one pass over the top level of the first operand, and a full visit of the others.
pub(super) const TOUCH: &str = "!touch";
/// Charges what `*` repeats.
pub(super) const TIMES: &str = "!times";
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
    add_charge(env, budget, TIMES, |budget, operands| match operands {
        [a, b] => repeat_work(budget, a, b).and_then(|()| repeat_work(budget, b, a)),
        _ => Ok(()),
    });
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

/// Charges the length of `what * count`, if it is that.
fn repeat_work(budget: &Budget, what: &Value, count: &Value) -> Result<(), Error> {
    let count = count.as_usize().unwrap_or(0);
    match what.as_str() {
        Some(text) => budget.spend_times(text.len(), count),
        None => budget.spend_times(what.len().unwrap_or(0).saturating_mul(count), KEEP as usize),
    }
}

/// `a % b`, for two numbers, or for a format and what it formats: a tuple of values, a dictionary, or
/// one value.
fn remainder(budget: &Budget, a: &Value, b: &Value) -> Result<Value, Error> {
    /// The engine has its operator in expressions only.
    static NUMBERS: LazyLock<Result<Expression<'static, 'static>, Error>> = LazyLock::new(|| {
        static PLAIN: LazyLock<Environment<'static>> = LazyLock::new(Environment::empty);
        PLAIN.compile_expression("a % b")
    });
    let Some(text) = a.as_str() else {
        let numbers = NUMBERS.as_ref().map_err(|error| refuse(error.to_string()))?;
        return numbers.eval(context! { a, b });
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
