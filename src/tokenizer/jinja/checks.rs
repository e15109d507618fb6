//! Jinja's tests, such as `is defined`, where the engine's differ.

use std::cmp::Ordering;

use minijinja::value::ValueKind;
use minijinja::{Environment, Error, State, Value};

use super::budget::{Budget, refuse};
use super::namespace::Namespace;
use super::objects::is_callable;
use super::python::{self, Number};

pub(super) fn add_to(env: &mut Environment<'static>, budget: &Budget) {
    let is_own = |value: &Value| value.downcast_object_ref::<Namespace>().is_some();
    let has_items = |value: &Value| {
        matches!(
            value.kind(),
            ValueKind::Undefined | ValueKind::String | ValueKind::Seq | ValueKind::Map
        )
    };
    // An undefined value has no items, and can be asked for them.
    env.add_test("iterable", move |value: &Value| {
        has_items(value) && !is_own(value) || value.kind() == ValueKind::Iterable
    });
    env.add_test("sequence", move |value: &Value| has_items(value) && !is_own(value));
    env.add_test("mapping", move |value: &Value| value.kind() == ValueKind::Map && !is_own(value));
    env.add_test("callable", is_callable);
    env.add_test("escaped", |value: &Value| value.is_safe());
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
        match (Number::of(value), Number::of(by)) {
            (Some(Number::Whole(value)), Some(Number::Whole(by))) => {
                let remainder = value.checked_rem(by);
                remainder.map(|rest| rest == 0).ok_or_else(|| refuse("nothing is divisible by 0"))
            }
            (Some(value), Some(by)) if by.real() != 0.0 => Ok(value.real() % by.real() == 0.0),
            _ => Err(refuse("only a number is divisible, and only by one other than 0")),
        }
    });
    add_order(env, &["lt", "lessthan", "<"], Ordering::is_lt);
    add_order(env, &["le", "<="], Ordering::is_le);
    add_order(env, &["gt", "greaterthan", ">"], Ordering::is_gt);
    add_order(env, &["ge", ">="], Ordering::is_ge);
}

/// Adds the names of a comparison. What is charged for it is so by the caller.
fn add_order(env: &mut Environment<'static>, names: &[&'static str], is: fn(Ordering) -> bool) {
    for &name in names {
        env.add_test(name, move |a: &Value, b: &Value| -> Result<bool, Error> {
            python::compare(a, b).map(is)
        });
    }
}
