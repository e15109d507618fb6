//! Jinja's `namespace`, the only mutable value in a template.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Enumerator, Object};
use minijinja::{Error, Value};

use super::budget::{Budget, refuse};

/// `namespace(found=false)`. The engine's own namespace could contain itself and would then print
/// endlessly; this one checks each value before storing it.
#[derive(Debug, Default)]
pub(super) struct Namespace(Mutex<BTreeMap<String, Value>>);

impl Namespace {
    pub(super) fn set(&self, budget: &Budget, name: &str, value: Value) -> Result<(), Error> {
        if value.downcast_object_ref::<Namespace>().is_some() {
            return Err(refuse("a namespace cannot be kept in a list or in a namespace"));
        }
        let value = budget.settle(value)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value);
        Ok(())
    }
}

impl Object for Namespace {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key.as_str()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Enumerator::Values(values.keys().map(Value::from).collect())
    }
}
