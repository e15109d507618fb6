//! The resource budget of a template. The engine counts instructions; this counts the work within
//! one, which is unbounded: comparing two lists of a million items, repeating a string.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, ErrorKind, Value};

use super::namespace::Namespace;
use super::objects::{self, Range};

/// The total work. A unit is about a nanosecond of work, or a byte of memory.
const WORK: u64 = 128 << 20;

/// The total output in bytes, variables included. No context length admits as much text.
const MAX_WRITTEN: u64 = 64 << 20;

/// The nesting limit of lists. Printing, comparing or freeing a value recurses per level, and the
/// remaining stack cannot be queried.
const MAX_DEPTH: usize = 64;

/// The work of visiting a value.
const LOOK: u64 = 8;

/// The work of storing a value in a list.
pub(super) const KEEP: u64 = 24;

/// The remaining budget, shared by clones. Only the rendering thread uses it.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    work: Arc<AtomicU64>,
    written: Arc<AtomicU64>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            work: Arc::new(AtomicU64::new(WORK)),
            written: Arc::new(AtomicU64::new(MAX_WRITTEN)),
        }
    }

    /// Charges work before it is done.
    pub(super) fn spend(&self, work: u64) -> Result<(), Error> {
        take(&self.work, work).ok_or_else(|| refuse("it takes too much work or memory"))
    }

    /// Charges `count` times `each`.
    pub(super) fn spend_times(&self, count: usize, each: usize) -> Result<(), Error> {
        self.spend((count as u64).saturating_mul(each as u64))
    }

    /// Charges output before it is written.
    pub(super) fn write(&self, bytes: u64) -> Result<(), Error> {
        take(&self.written, bytes)
            .ok_or_else(|| refuse(format!("it writes more than {MAX_WRITTEN} bytes")))
    }

    /// Charges a visit of a value and everything in it, and returns its approximate printed length
    /// in bytes.
    pub(super) fn weigh(&self, value: &Value) -> Result<u64, Error> {
        self.weigh_inside(value, 0)
    }

    fn weigh_inside(&self, value: &Value, depth: usize) -> Result<u64, Error> {
        if let Some(text) = value.as_str() {
            self.spend(LOOK + text.len() as u64 / 8)?;
            return Ok(text.len() as u64 + 2);
        }
        self.spend(LOOK)?;
        check_depth(depth)?;
        if value.downcast_object_ref::<Range>().is_some() {
            self.spend_times(value.len().unwrap_or(0), LOOK as usize)?;
        }
        let mut bytes: u64 = 32;
        for (key, item) in pairs(value) {
            bytes += self.weigh_inside(&key, depth + 1)? + self.weigh_inside(&item, depth + 1)?;
        }
        for item in objects::held(value).into_iter().flatten() {
            bytes += self.weigh_inside(&item, depth + 1)?;
        }
        for item in items(value)? {
            bytes += self.weigh_inside(&item?, depth + 1)?;
        }
        Ok(bytes)
    }

    /// The same for several values.
    pub(super) fn weigh_all(&self, values: &[Value]) -> Result<(), Error> {
        values.iter().try_for_each(|value| self.weigh(value).map(drop))
    }

    /// Charges a visit of a value, treating a string as a list of its characters.
    pub(super) fn weigh_items(&self, value: &Value) -> Result<(), Error> {
        self.weigh(value)?;
        self.spend_times(value.as_str().map_or(0, str::len), KEEP as usize)
    }

    /// Charges one pass over a value's items, without their contents.
    pub(super) fn touch(&self, value: &Value) -> Result<(), Error> {
        match value.as_str() {
            Some(text) => self.spend(text.len() as u64 / 8),
            None => self.spend(value.len().unwrap_or(0) as u64),
        }
    }

    /// Materializes a value: the engine keeps many lists as lazy iterators, which would redo their
    /// work at every read.
    pub(super) fn settle(&self, value: Value) -> Result<Value, Error> {
        if let Some(text) = value.as_str() {
            self.spend(text.len() as u64)?;
            return Ok(value);
        }
        Ok(self.settled(&value, 0)?.unwrap_or(value))
    }

    /// The materialized replacement of a value, if it needs one.
    fn settled(&self, value: &Value, depth: usize) -> Result<Option<Value>, Error> {
        self.spend(LOOK)?;
        check_depth(depth)?;
        // What it holds was settled when it was set.
        if value.downcast_object_ref::<Namespace>().is_some() {
            return Ok(None);
        }
        if let Some(held) = objects::held(value) {
            for item in held {
                self.settled(&item, depth + 1)?;
            }
            return Ok(None);
        }
        for (key, item) in pairs(value) {
            self.settled(&key, depth + 1)?;
            self.settled(&item, depth + 1)?;
        }
        if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
            return Ok(None);
        }
        let is_list = value.downcast_object_ref::<Vec<Value>>().is_some();
        let mut changed = !is_list && !value.is_tuple();
        let mut new = Vec::new();
        for item in items(value)? {
            let item = item?;
            self.spend(KEEP)?;
            let settled = self.settled(&item, depth + 1)?;
            changed |= settled.is_some();
            new.push(settled.unwrap_or(item));
        }
        Ok(match (changed, value.is_tuple()) {
            (false, _) => None,
            (true, true) => Some(Value::from(Tuple::from(new))),
            (true, false) => Some(Value::from(new)),
        })
    }
}

pub(super) fn refuse(message: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

fn take(from: &AtomicU64, amount: u64) -> Option<()> {
    let left = from.load(Ordering::Relaxed).checked_sub(amount);
    // An exhausted budget stays exhausted, even if the template ignores the error.
    from.store(left.unwrap_or(0), Ordering::Relaxed);
    left.map(drop)
}

fn check_depth(depth: usize) -> Result<(), Error> {
    if depth <= MAX_DEPTH {
        Ok(())
    } else {
        Err(refuse(format!("its lists lie more than {MAX_DEPTH} deep in each other")))
    }
}

/// The entries of a map; empty for other values.
fn pairs(value: &Value) -> impl Iterator<Item = (Value, Value)> {
    let map = value.as_object().filter(|_| value.kind() == ValueKind::Map);
    map.and_then(|map| map.try_iter_pairs()).into_iter().flatten()
}

/// The items of a list; empty for other values.
fn items(value: &Value) -> Result<impl Iterator<Item = Result<Value, Error>>, Error> {
    let is_list = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
        && objects::held(value).is_none();
    let items = is_list.then(|| value.try_iter()).transpose()?;
    Ok(items.into_iter().flat_map(|items| items.checked()))
}
