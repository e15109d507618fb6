//! The methods of Python's strings, lists and dictionaries.

use minijinja::value::ValueKind;
use minijinja::{Error, State, Value};
use minijinja_contrib::pycompat;

use super::budget::{Budget, KEEP};
use super::format_check::check_format;
use super::library::{join_work, replace_work, texts_of};
use super::strings;

/// Charges a method's work to the budget, and calls it.
pub(super) fn call(
    budget: &Budget,
    state: &mut State,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    // A dictionary lookup takes the same time whatever its size.
    if value.kind() != ValueKind::Map {
        budget.weigh(value)?;
    }
    args.iter().try_for_each(|arg| budget.weigh(arg).map(drop))?;
    let length = value.as_str().map_or(0, str::len);
    match (method, args) {
        ("replace", [from, to, ..]) => replace_work(budget, value, from, to)?,
        ("join", [items]) => join_work(budget, items, value)?,
        ("format", values) => check_format(budget, value, values)?,
        ("splitlines", _) => {
            let lines = value.as_str().map_or(0, |text| text.matches('\n').count());
            budget.spend_times(lines + 1, 2 * KEEP as usize)?;
        }
        ("strip" | "lstrip" | "rstrip", [characters]) => {
            budget.spend_times(length, characters.as_str().map_or(0, str::len))?;
        }
        ("startswith" | "endswith", [_]) => {}
        _ => budget.spend_times(length, 1)?,
    }
    if let Some(result) = value.as_str().and_then(|text| strings::call(budget, text, method, args))
    {
        return result;
    }
    if let ("join", [items]) = (method, args) {
        return pycompat::unknown_method_callback(state, value, method, &[texts_of(items)?]);
    }
    pycompat::unknown_method_callback(state, value, method, args)
}
