//! The filters and functions of templates, each of which charges its work to the budget before it
//! runs.

use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, State, Value, filters};

use super::budget::{Budget, refuse};
use super::json::to_json;
use super::namespace::Namespaces;
use super::objects::{Cycler, Joiner, Range};
use super::{args, collections, numbers, python, text_filters};

/// How a filter visits its input.
type Look = fn(&Budget, &Value) -> Result<(), Error>;

/// A filter, with the arguments of its call, of which the first is its input.
pub(super) type OwnFilter = fn(&Budget, &[Value]) -> Result<Value, Error>;

/// Filters of the engine.
macro_rules! engine {
    ($($name:ident)*) => { [$((stringify!($name), Value::from_function(filters::$name))),*] };
}

pub(super) fn add_to(env: &mut Environment<'static>, budget: &Budget) {
    add_filters(env, budget);
    add_functions(env, budget);
    // Its output is long debug information for template authors.
    env.remove_global("debug");
    // Extensions of the engine, which templates for transformers cannot use.
    ["chain", "zip", "split", "lines", "bool"].iter().for_each(|name| env.remove_filter(name));
}

fn add_filters(env: &mut Environment<'static>, budget: &Budget) {
    let visit: Look = |budget, value| budget.weigh(value).map(drop);
    // These iterate over the characters of a string as over the items of a list, and call others.
    for (name, filter) in engine![map reject rejectattr select selectattr] {
        add_filter(env, budget, name, Budget::weigh_items, filter);
    }
    let own: [(&[(&'static str, OwnFilter)], Look); 5] = [
        (&collections::SHALLOW, Budget::touch),
        (&collections::DEEP, Budget::weigh_items),
        (&numbers::ALL, visit),
        (&text_filters::ALL, visit),
        (&[("tojson", to_json)], visit),
    ];
    for (filters, look) in own {
        for &(name, filter) in filters {
            let own = budget.clone();
            let filter = Value::from_function(move |args: Rest<ValueOrKwargs>| {
                filter(&own, &args.into_values())
            });
            add_filter(env, budget, name, look, filter);
        }
    }
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
        let args = args.into_values();
        if let [value, options @ ..] = &args[..] {
            look(&budget, value)?;
            budget.weigh_all(options)?;
            // It would call itself.
            if name == "map" && options.first().and_then(Value::as_str) == Some("map") {
                return Err(refuse("`map` cannot apply `map`"));
            }
        }
        budget.settle(filter.call(state, &args)?)
    });
}

fn add_functions(env: &mut Environment<'static>, budget: &Budget) {
    let own = budget.clone();
    env.add_function("range", move |args: Rest<ValueOrKwargs>| -> Result<Value, Error> {
        own.spend(8)?;
        Ok(Value::from_object(Range::new(&args.into_values())?))
    });
    env.add_global("dict", Value::from_object(Dict(budget.clone())));
    let (own, namespaces) = (budget.clone(), Namespaces::default());
    env.add_function("namespace", move |args: Rest<ValueOrKwargs>| -> Result<Value, Error> {
        let namespace = namespaces.create();
        for (name, value) in entries(&own, &args.into_values())? {
            namespace.set(&own, name.as_str().unwrap_or_default(), value)?;
        }
        Ok(Value::from_object(namespace))
    });
    let own = budget.clone();
    env.add_function("cycler", move |args: Rest<ValueOrKwargs>| -> Result<Value, Error> {
        own.settle(Value::from_object(Cycler::new(&args.into_values())?))
    });
    let own = budget.clone();
    env.add_function("joiner", move |args: Rest<ValueOrKwargs>| -> Result<Value, Error> {
        own.settle(Value::from_object(Joiner::new(&args.into_values())?))
    });
    env.add_function("raise_exception", |message: &Value| -> Result<Value, Error> {
        Err(refuse(python::printed(message)))
    });
}

/// `dict(...)`, and `dict.fromkeys(...)`.
#[derive(Debug)]
struct Dict(Budget);

impl minijinja::value::Object for Dict {
    fn repr(self: &std::sync::Arc<Self>) -> minijinja::value::ObjectRepr {
        minijinja::value::ObjectRepr::Plain
    }

    fn call(
        self: &std::sync::Arc<Self>,
        _: &mut State<'_, '_>,
        args: &[Value],
    ) -> Result<Value, Error> {
        self.0.settle(Value::from_pairs(entries(&self.0, args)?))
    }

    fn call_method(
        self: &std::sync::Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        if method != "fromkeys" {
            return Err(Error::from(minijinja::ErrorKind::UnknownMethod));
        }
        let [keys, value] = args::bind(args, ["iterable", "value"])?;
        let (keys, value) = (args::required(keys)?, value.unwrap_or_else(|| Value::from(())));
        self.0.weigh_items(&keys)?;
        let keys = collections::iterate(&keys)?.into_iter();
        self.0.settle(Value::from_pairs(keys.map(|key| (key, value.clone()))))
    }
}

/// What a dictionary is made of: another, or pairs, and names with values.
fn entries(budget: &Budget, args: &[Value]) -> Result<Vec<(Value, Value)>, Error> {
    budget.weigh_all(args)?;
    let (positional, named) = args::split(args);
    let mut entries: Vec<(Value, Value)> = match positional {
        [] => Vec::new(),
        [map] if map.kind() == ValueKind::Map => python::entries(map).collect(),
        [pairs] => {
            let pairs = collections::iterate(pairs)?.into_iter().map(|pair| {
                let pair: Result<[Value; 2], _> = collections::iterate(&pair)?.try_into();
                let [key, value] = pair.map_err(|_| refuse("a dictionary is made of pairs"))?;
                Ok((key, value))
            });
            pairs.collect::<Result<Vec<(Value, Value)>, Error>>()?
        }
        _ => return Err(refuse("a dictionary is made of one other, and of names with values")),
    };
    for name in named.iter().flat_map(|named| named.args()) {
        if let Some(named) = &named {
            entries.push((Value::from(name), named.get(name)?));
        }
    }
    Ok(entries)
}
