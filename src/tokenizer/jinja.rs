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
use std::ops::Range;

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
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    let syntax = syntax.map_err(|error| describe(&error, source, source))?;
    let written = source;
    let source = source::prepare(source, &syntax)?;
    let one_line = |error: Error| describe(&error, &source, written);
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

/// Describes an engine error, with its cause if there is one, and where in the template it is, as that
/// was written before it was prepared.
fn describe(error: &Error, source: &str, written: &str) -> String {
    let problem = match (error.kind(), error.detail()) {
        (ErrorKind::UndefinedError, None) => "a value is undefined".to_owned(),
        // Among these is what a template refuses, in words of its own.
        (ErrorKind::InvalidOperation, Some(detail)) => detail.to_owned(),
        (kind, Some(detail)) => format!("{kind}: {detail}"),
        (kind, None) => kind.to_string(),
    };
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    // What a template raises says enough.
    let is_shown = |part: &&str| {
        let is_short = (1..=LONGEST_PART).contains(&part.len());
        is_short && written.contains(part) && !part.starts_with("raise_exception")
    };
    let part = error.range().and_then(|range| part(source, range)).filter(is_shown);
    let place = match (error.line(), part) {
        (Some(line), Some(part)) => format!(", at `{part}` in its line {line}"),
        (Some(line), None) => format!(", in its line {line}"),
        (None, _) => String::new(),
    };
    format!("{problem}{}{place}", cause.unwrap_or_default()).replace(['\n', '\r'], " ")
}

/// The part of a source in this range. That of an attribute, for the engine, begins with its dot.
fn part(source: &str, range: Range<usize>) -> Option<&str> {
    let (before, behind) = source.split_at_checked(range.end)?.0.split_at_checked(range.start)?;
    if !behind.starts_with(['.', '[']) {
        return Some(behind.trim());
    }
    let is_of_name = |c: char| c.is_alphanumeric() || "_.[]'\"".contains(c);
    source.get(before.trim_end_matches(is_of_name).len()..range.end)
}

/// The most bytes of a template that an error shows.
const LONGEST_PART: usize = 80;

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
