//! Jinja's `namespace`, the only mutable value in a template.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::Value;
use minijinja::value::{Enumerator, Object};

/// `namespace(found=false)`. The engine's own namespace could contain itself and would then print
/// endlessly; this one checks each value before storing it.
#[derive(Debug, Default)]
pub(super) struct Namespace(Mutex<BTreeMap<String, Value>>);

impl Namespace {
    pub(super) fn set(&self, name: &str, value: Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value);
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
