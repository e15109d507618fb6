//! Values of Python that the engine lacks: the views of a dictionary, ranges, groups, methods that are
//! not called yet, and what Jinja's `cycler`, `joiner` and `macro` make.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Enumerator, Object, ObjectRepr, Tuple, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};

use super::args;
use super::budget::{Budget, refuse};
use super::methods;

/// `{}.keys()`, `{}.values()` or `{}.items()`: iterable, but without an index.
#[derive(Debug)]
pub(super) struct View {
    pub(super) name: &'static str,
    pub(super) items: Vec<Value>,
}

impl Object for View {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Iterable
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.items.clone())
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.items.len())
    }
}

/// `range(1, 10, 3)`.
#[derive(Debug)]
pub(super) struct Range {
    start: i64,
    stop: i64,
    step: i64,
    length: usize,
}

impl Range {
    /// As many as in the sandbox of Jinja.
    const MOST: i128 = 100_000;

    pub(super) fn new(args: &[Value]) -> Result<Self, Error> {
        let (positional, None) = args::split(args) else {
            return Err(refuse("the arguments of `range` have no names"));
        };
        let numbers = positional.iter().map(args::integer).collect::<Result<Vec<i64>, Error>>()?;
        let (start, stop, step) = match numbers[..] {
            [stop] => (0, stop, 1),
            [start, stop] => (start, stop, 1),
            [start, stop, step] => (start, stop, step),
            _ => return Err(refuse("`range` takes one to three whole numbers")),
        };
        let (way, stride) = match step {
            0 => return Err(refuse("the step of a range is not 0")),
            1.. => (i128::from(stop) - i128::from(start), i128::from(step)),
            _ => (i128::from(start) - i128::from(stop), -i128::from(step)),
        };
        let length = ((way + stride - 1) / stride).max(0);
        if length > Self::MOST {
            return Err(refuse(format!("a range has more than {} numbers", Self::MOST)));
        }
        Ok(Self {
            start,
            stop,
            step,
            length: usize::try_from(length).unwrap_or(0),
        })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, stop, step, .. } = self;
        write!(f, "range({start}, {stop}")?;
        if *step != 1 {
            write!(f, ", {step}")?;
        }
        write!(f, ")")
    }
}

impl Object for Range {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let index = key.as_usize().filter(|index| *index < self.length)?;
        // Within the range, so that nothing overflows.
        Some(Value::from(self.start + self.step * i64::try_from(index).ok()?))
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.length)
    }
}

/// A group of `groupby`: a pair with names.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) grouper: Value,
    pub(super) list: Value,
}

impl Object for Group {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        match (key.as_usize(), key.as_str()) {
            (Some(0), _) | (_, Some("grouper")) => Some(self.grouper.clone()),
            (Some(1), _) | (_, Some("list")) => Some(self.list.clone()),
            _ => None,
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(2)
    }
}

/// A method that is not called, as in `x.items is callable`.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) budget: Budget,
    pub(super) of: Value,
    pub(super) name: &'static str,
}

impl Object for Method {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        methods::call(&self.budget, state, &self.of, self.name, args)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<built-in method {}>", self.name)
    }
}

/// `cycler('odd', 'even')`.
#[derive(Debug)]
pub(super) struct Cycler {
    items: Vec<Value>,
    at: AtomicUsize,
}

impl Cycler {
    pub(super) fn new(args: &[Value]) -> Result<Self, Error> {
        match args::split(args) {
            ([_, ..], None) => Ok(Self { items: args.to_vec(), at: AtomicUsize::new(0) }),
            _ => Err(refuse("`cycler` takes the items to go through")),
        }
    }

    fn current(&self) -> Value {
        self.items[self.at.load(Ordering::Relaxed) % self.items.len()].clone()
    }
}

impl Object for Cycler {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_str() == Some("current")).then(|| self.current())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        args::none(args)?;
        match method {
            "next" => {
                let current = self.current();
                self.at.fetch_add(1, Ordering::Relaxed);
                Ok(current)
            }
            "reset" => {
                self.at.store(0, Ordering::Relaxed);
                Ok(Value::from(()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<cycler>")
    }
}

/// `joiner(', ')`: nothing at its first call, and the separator at all later ones.
#[derive(Debug)]
pub(super) struct Joiner {
    separator: Value,
    is_used: Mutex<bool>,
}

impl Joiner {
    pub(super) fn new(args: &[Value]) -> Result<Self, Error> {
        let [separator] = args::bind(args, ["sep"])?;
        let separator = separator.unwrap_or_else(|| Value::from(", "));
        Ok(Self { separator, is_used: Mutex::new(false) })
    }
}

impl Object for Joiner {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        args::none(args)?;
        let mut is_used = self.is_used.lock().unwrap_or_else(PoisonError::into_inner);
        let was_used = std::mem::replace(&mut *is_used, true);
        Ok(if was_used {
            self.separator.clone()
        } else {
            Value::from("")
        })
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<joiner>")
    }
}

/// A macro. The engine's own refuses arguments that it does not name; in Jinja those are in `varargs`
/// and `kwargs`, where its body reads these. [`source`](super::source) makes them parameters then.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) inner: Value,
    name: String,
    /// Without the two.
    parameters: Vec<Value>,
    takes_more: bool,
}

/// The parameters that take all further arguments.
pub(super) const VARARGS: &str = "varargs";
pub(super) const KWARGS: &str = "kwargs";

impl Macro {
    pub(super) fn new(inner: Value) -> Result<Self, Error> {
        let mut parameters: Vec<Value> = inner.get_attr("arguments")?.try_iter()?.collect();
        let names = |parameters: &[Value]| match parameters {
            [.., a, b] => a.as_str() == Some(VARARGS) && b.as_str() == Some(KWARGS),
            _ => false,
        };
        let takes_more = names(&parameters);
        if takes_more {
            parameters.truncate(parameters.len() - 2);
        }
        let name = inner.get_attr("name")?.to_string();
        Ok(Self { inner, name, parameters, takes_more })
    }

    /// The arguments as the engine's macro takes them.
    fn bind(&self, given: &[Value]) -> Vec<Value> {
        let (positional, named) = args::split(given);
        let (own, more) = positional.split_at(positional.len().min(self.parameters.len()));
        let names: Vec<String> =
            named.iter().flat_map(|named| named.args().map(str::to_owned)).collect();
        let entries = names.into_iter().filter_map(|name| {
            let value = named.as_ref()?.get::<Value>(&name).ok()?;
            Some((name, value))
        });
        let is_own = |name: &str| {
            name == "caller"
                || self.parameters.iter().any(|parameter| parameter.as_str() == Some(name))
        };
        let (mut own_names, more_names): (BTreeMap<String, Value>, BTreeMap<String, Value>) =
            entries.partition(|(name, _)| is_own(name));
        own_names.insert(VARARGS.to_owned(), Value::from(Tuple::from(more.to_vec())));
        own_names.insert(KWARGS.to_owned(), Value::from_pairs(more_names));
        let named: minijinja::value::Kwargs = own_names.into_iter().collect();
        own.iter().cloned().chain([Value::from(named)]).collect()
    }
}

impl Object for Macro {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        Some(match key.as_str()? {
            "name" => Value::from(&self.name),
            "arguments" => Value::from(Tuple::from(self.parameters.clone())),
            "catch_varargs" | "catch_kwargs" => Value::from(self.takes_more),
            "caller" => return self.inner.get_attr("caller").ok(),
            _ => return None,
        })
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        if self.takes_more {
            self.inner.call(state, &self.bind(args))
        } else {
            self.inner.call(state, args)
        }
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Macro '{}'>", self.name)
    }
}

/// What one of these values holds, if it is one. All of it is settled.
pub(super) fn held(value: &Value) -> Option<Vec<Value>> {
    if let Some(view) = value.downcast_object_ref::<View>() {
        Some(view.items.clone())
    } else if let Some(Group { grouper, list }) = value.downcast_object_ref::<Group>() {
        Some(vec![grouper.clone(), list.clone()])
    } else if let Some(method) = value.downcast_object_ref::<Method>() {
        Some(vec![method.of.clone()])
    } else if let Some(cycler) = value.downcast_object_ref::<Cycler>() {
        Some(cycler.items.clone())
    } else if let Some(joiner) = value.downcast_object_ref::<Joiner>() {
        Some(vec![joiner.separator.clone()])
    } else {
        value.downcast_object_ref::<Range>().map(|_| Vec::new())
    }
}

/// Whether a value can be called.
pub(super) fn is_callable(value: &Value) -> bool {
    let is_object = value.kind() == ValueKind::Plain && value.as_object().is_some();
    value.is_undefined() || is_object && value.downcast_object_ref::<Cycler>().is_none()
}
