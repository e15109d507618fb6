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
        let mut bytes: u64 = 32;
        for item in self.inside(value)? {
            bytes += self.weigh_inside(&item, depth + 1)?;
        }
        Ok(bytes)
    }

    /// What is directly in a value: keys and entries of a map, items of a list. It is a function of its
    /// own, since those that call themselves for each level of a value need frames that are small.
    #[inline(never)]
    fn inside(&self, value: &Value) -> Result<Vec<Value>, Error> {
        if let Some(held) = objects::held(value) {
            if value.downcast_object_ref::<Range>().is_some() {
                self.spend_times(value.len().unwrap_or(0), LOOK as usize)?;
            }
            return Ok(held);
        }
        match value.kind() {
            ValueKind::Map => {
                let map = value.as_object().and_then(|map| map.try_iter_pairs());
                Ok(map.into_iter().flatten().flat_map(<[Value; 2]>::from).collect())
            }
            ValueKind::Seq | ValueKind::Iterable => {
                let item = |item: Result<Value, Error>| self.spend(1).and(item);
                value.try_iter()?.checked().map(item).collect()
            }
            _ => Ok(Vec::new()),
        }
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
        let mut new = self.inside(value)?;
        let mut changed = is_lazy(value);
        for item in &mut new {
            self.spend(KEEP)?;
            if let Some(settled) = self.settled(item, depth + 1)? {
                *item = settled;
                changed = true;
            }
        }
        let is_list = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
        Ok((changed && is_list && objects::held(value).is_none()).then(|| {
            if value.is_tuple() {
                Value::from(Tuple::from(new))
            } else {
                Value::from(new)
            }
        }))
    }
}

/// Whether a list is made anew each time that it is read.
fn is_lazy(value: &Value) -> bool {
    value.downcast_object_ref::<Vec<Value>>().is_none() && !value.is_tuple()
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
