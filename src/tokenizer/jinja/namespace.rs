//! Jinja's `namespace`, the only mutable value in a template.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use minijinja::value::{Enumerator, Object};
use minijinja::{Error, Value};

use super::budget::{Budget, refuse};

/// The contents of all namespaces of a rendering.
///
/// A namespace may be in a list that is in a namespace, and so in itself. Here nothing leaks by that,
/// because the namespaces in values are only names of contents that all end with the rendering; and
/// nothing loops, because the [budget](Budget) is charged for what a value holds, and how deep, before
/// anything else visits it.
#[derive(Debug, Clone, Default)]
pub(super) struct Namespaces(Arc<Mutex<Vec<BTreeMap<String, Value>>>>);

impl Namespaces {
    /// A new one that holds nothing.
    pub(super) fn create(&self) -> Namespace {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(BTreeMap::new());
        Namespace { contents: Arc::downgrade(&self.0), at: all.len() - 1 }
    }
}

/// `namespace(found=false)`.
#[derive(Debug)]
pub(super) struct Namespace {
    contents: Weak<Mutex<Vec<BTreeMap<String, Value>>>>,
    at: usize,
}

impl Namespace {
    pub(super) fn set(&self, budget: &Budget, name: &str, value: Value) -> Result<(), Error> {
        if name.starts_with('_') {
            return Err(refuse(format!("a namespace cannot hold `{name}`: use another name")));
        }
        let value = budget.settle(value)?;
        self.with(|contents| contents.insert(name.to_owned(), value));
        Ok(())
    }

    fn with<T>(&self, read: impl FnOnce(&mut BTreeMap<String, Value>) -> T) -> Option<T> {
        let all = self.contents.upgrade()?;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        all.get_mut(self.at).map(read)
    }
}

impl Object for Namespace {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.with(|contents| contents.get(key.as_str()?).cloned()).flatten()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let names = self.with(|contents| contents.keys().map(Value::from).collect());
        Enumerator::Values(names.unwrap_or_default())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }
}
