//! How much a template may do: instructions are counted by the engine, and here what one of them
//! may do, which can be anything: to compare two lists of a million items, to repeat a text.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use minijinja::value::{Tuple, ValueKind};
use minijinja::{Error, ErrorKind, Value};

use super::namespace::Namespace;

/// All work together. A unit is about the work of a nanosecond, or a byte of memory.
const WORK: u64 = 128 << 20;

/// What is written, also into variables. No context is as long as this many bytes of text.
const MAX_WRITTEN: u64 = 64 << 20;

/// How deep lists may lie in lists. To print, compare or free a value takes some stack for each
/// level, and the stack cannot be asked how much is left.
const MAX_DEPTH: usize = 64;

/// To look at a value.
const LOOK: u64 = 8;

/// To keep a value in a list.
pub(super) const KEEP: u64 = 24;

/// What is left. Clones share it. Only the thread that renders uses it.
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

    /// Takes some work, before it is done.
    pub(super) fn spend(&self, work: u64) -> Result<(), Error> {
        take(&self.work, work).ok_or_else(|| refuse("it takes too much work or memory"))
    }

    /// The same for `count` times `each`.
    pub(super) fn spend_times(&self, count: usize, each: usize) -> Result<(), Error> {
        self.spend((count as u64).saturating_mul(each as u64))
    }

    /// Takes a part of what may be written.
    pub(super) fn write(&self, bytes: u64) -> Result<(), Error> {
        take(&self.written, bytes)
            .ok_or_else(|| refuse(format!("it writes more than {MAX_WRITTEN} bytes")))
    }

    /// Takes the work of looking at all of a value, and returns about how many bytes it has when
    /// it is printed.
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
        let mut bytes: u64 = 32;
        for (key, item) in pairs(value) {
            bytes += self.weigh_inside(&key, depth + 1)? + self.weigh_inside(&item, depth + 1)?;
        }
        for item in items(value)? {
            bytes += self.weigh_inside(&item?, depth + 1)?;
        }
        Ok(bytes)
    }

    /// Takes the work of going through a value once, without what lies in its items.
    pub(super) fn touch(&self, value: &Value) -> Result<(), Error> {
        match value.as_str() {
            Some(text) => self.spend(text.len() as u64 / 8),
            None => self.spend(value.len().unwrap_or(0) as u64),
        }
    }

    /// A result, as a value that holds what it has: the engine keeps many lists as the work that
    /// makes them, which would be done each time that they are read.
    pub(super) fn settle(&self, value: Value) -> Result<Value, Error> {
        if let Some(text) = value.as_str() {
            self.spend(text.len() as u64)?;
            return Ok(value);
        }
        Ok(self.settled(&value, 0)?.unwrap_or(value))
    }

    /// The value to take in the place of this one, if it must be another.
    fn settled(&self, value: &Value, depth: usize) -> Result<Option<Value>, Error> {
        self.spend(LOOK)?;
        check_depth(depth)?;
        if depth > 0 && value.downcast_object_ref::<Namespace>().is_some() {
            return Err(refuse("a namespace cannot be kept in a list or in a namespace"));
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
    // What could not be paid is the end, also for a template that goes on after an error.
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

/// The entries of a map, and nothing for other values.
fn pairs(value: &Value) -> impl Iterator<Item = (Value, Value)> {
    let map = value.as_object().filter(|_| value.kind() == ValueKind::Map);
    map.and_then(|map| map.try_iter_pairs()).into_iter().flatten()
}

/// The items of a list, and nothing for other values.
fn items(value: &Value) -> Result<impl Iterator<Item = Result<Value, Error>>, Error> {
    let is_list = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    let items = is_list.then(|| value.try_iter()).transpose()?;
    Ok(items.into_iter().flat_map(|items| items.checked()))
}
