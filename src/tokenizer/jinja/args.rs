//! Arguments by position and by name, as a function of Python takes them.

use minijinja::value::Kwargs;
use minijinja::{Error, ErrorKind, Value};

use super::budget::refuse;
use super::python;

/// The arguments of a call in the order of its parameters; None for those that were not given.
pub(super) fn bind<const N: usize>(
    args: &[Value],
    names: [&str; N],
) -> Result<[Option<Value>; N], Error> {
    let (positional, named) = split(args);
    if positional.len() > N {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let mut bound = names.map(|_| None);
    for (place, value) in bound.iter_mut().zip(positional) {
        *place = Some(value.clone());
    }
    if let Some(named) = named {
        for name in named.args() {
            let Some(at) = names.iter().position(|known| known == &name) else {
                let message = format!("unknown keyword argument `{name}`");
                return Err(Error::new(ErrorKind::TooManyArguments, message));
            };
            if bound[at].is_some() {
                return Err(refuse(format!("the argument `{name}` is given twice")));
            }
            bound[at] = Some(named.get(name)?);
        }
    }
    Ok(bound)
}

/// The arguments by position, and those by name.
pub(super) fn split(args: &[Value]) -> (&[Value], Option<Kwargs>) {
    match args.split_last() {
        Some((last, positional)) if last.is_kwargs() => {
            (positional, Kwargs::try_from(last.clone()).ok())
        }
        _ => (args, None),
    }
}

/// No arguments.
pub(super) fn none(args: &[Value]) -> Result<(), Error> {
    bind::<0>(args, []).map(drop)
}

/// An argument that must be given.
pub(super) fn required(value: Option<Value>) -> Result<Value, Error> {
    value.ok_or_else(|| Error::from(ErrorKind::MissingArgument))
}

/// An argument that must be a text.
pub(super) fn text(value: &Value) -> Result<&str, Error> {
    value
        .as_str()
        .ok_or_else(|| refuse(format!("a text is expected, and not {}", value.kind())))
}

/// An argument that must be a whole number.
pub(super) fn integer(value: &Value) -> Result<i64, Error> {
    let whole = python::integer(value).and_then(|whole| i64::try_from(whole).ok());
    whole.ok_or_else(|| refuse(format!("a whole number is expected, and not {}", value.kind())))
}

/// An integer with a default.
pub(super) fn integer_or(value: Option<Value>, default: i64) -> Result<i64, Error> {
    value.map_or(Ok(default), |value| integer(&value))
}

/// A count, where those below zero are zero.
pub(super) fn count_or(value: Option<Value>, default: usize) -> Result<usize, Error> {
    let count = value.map(|value| integer(&value)).transpose()?;
    Ok(count.map_or(default, |count| usize::try_from(count).unwrap_or(0)))
}

/// Whether an argument is given and true.
pub(super) fn is_true(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_true)
}

/// An argument, where `none` stands for none.
pub(super) fn given(value: Option<Value>) -> Option<Value> {
    value.filter(|value| !value.is_none())
}
