//! The environment for chat templates, compatible with that of transformers.
//!
//! A template is an untrusted program, which could take any amount of time, memory or stack, so it
//! runs on a budget: its source is checked before parsing ([`source`]), expensive operations are
//! charged before they run ([`rewrite`], [`library`], [`methods`]), the engine counts instructions,
//! and remaining panics are caught. A template that exhausts its budget always fails at the same
//! place, because no clock is involved.
//!
//! The engine's public interface does not suffice for that, which is why its `unstable_machinery` is
//! used: it counts instructions and not the work within one, shows operators to no callback, and
//! parses without a limit. With it alone, `{% set x = x ~ x %}` forty times asks for 10^15 bytes and
//! `1 + 1 + ...` overflows the stack, which ends the process (`tests/chat_limits.rs`).

mod args;
mod budget;
mod checks;
mod collections;
mod format;
mod json;
mod library;
mod methods;
mod namespace;
mod numbers;
mod objects;
mod operators;
mod python;
mod rewrite;
mod source;
mod strings;
mod text_filters;

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use minijinja::machinery;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, Value};

use crate::panics;
use budget::Budget;

/// Stops endless loops. A message takes a hundred instructions or a few, those that charge included.
const MAX_INSTRUCTIONS: u64 = 2_500_000;

/// The nesting limit of loops and macros, where a macro counts as five.
const MAX_CALLS: usize = 200;

/// Renders a template. The error is a description in one line.
pub(super) fn render(
    source: &str,
    context: BTreeMap<&str, Value>,
    now: Option<DateTime>,
) -> Result<String, String> {
    match panics::contain_quietly("the engine of the chat template", || run(source, context, now)) {
        Ok(result) => result,
        Err(panicked) => Err(panicked.to_string()),
    }
}

fn run(
    source: &str,
    context: BTreeMap<&str, Value>,
    now: Option<DateTime>,
) -> Result<String, String> {
    let one_line = |error: Error| describe(&error);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    let syntax = syntax.map_err(one_line)?;
    let source = source::prepare(source, &syntax)?;
    let environment = environment(syntax, now);
    let template = environment.template_from_str(&source).map_err(one_line)?;
    let template = machinery::get_compiled_template(&template);
    let instructions = rewrite::counted(&template.instructions);

    let mut text = String::new();
    let mut out = machinery::make_string_output(&mut text);
    let context = Value::from(context);
    let blocks = BTreeMap::new();
    machinery::eval(&environment, &instructions, context, &blocks, &mut out, AutoEscape::None)
        .map_err(one_line)?;
    drop(out);
    Ok(text)
}

/// Describes an engine error, with its cause if there is one.
fn describe(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default()).replace(['\n', '\r'], " ")
}

fn environment(syntax: SyntaxConfig, now: Option<DateTime>) -> Environment<'static> {
    let budget = Budget::new();
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    // Debug errors would print all variables.
    environment.set_debug(false);
    environment.set_fuel(Some(MAX_INSTRUCTIONS));
    environment.set_recursion_limit(MAX_CALLS);
    library::add_to(&mut environment, &budget);
    checks::add_to(&mut environment, &budget);
    operators::add_to(&mut environment, &budget);
    let own = budget.clone();
    environment.set_unknown_method_callback(move |state, value, method, args| {
        methods::call(&own, state, value, method, args)
    });
    let own = budget.clone();
    environment.set_formatter(move |out, state, value| write(&own, out, state, value));
    if let Some(now) = now {
        environment.add_function("strftime_now", move |format: String| {
            // A field may be padded to 255 characters.
            budget.spend_times(format.len(), 255)?;
            jiff::fmt::strtime::format(&format, now)
                .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
        });
    }
    environment
}

/// Writes a value, to the output or into a variable.
fn write(budget: &Budget, out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    let bytes = match value.as_str() {
        Some(text) => text.len() as u64,
        None => budget.weigh(value)?,
    };
    budget.write(bytes)?;
    if value.as_str().is_some() {
        return minijinja::escape_formatter(out, state, value);
    }
    minijinja::escape_formatter(out, state, &Value::from(python::printed(value)))
}
