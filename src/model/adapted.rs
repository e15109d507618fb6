//! Which rows of a pass have which adapter.

use std::sync::Arc;

use crate::adapter::Adapter;

/// The rows of a pass, and those of them that have an adapter.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) count: usize,
    pub(super) adapted: Arc<Vec<AdaptedRows>>,
}

/// The rows that have the same adapter, from all sequences.
#[derive(Debug, Clone)]
pub(super) struct AdaptedRows {
    pub(super) adapter: Arc<Adapter>,
    pub(super) rows: Vec<usize>,
}

impl Rows {
    /// So many rows that no adapter changes.
    pub(super) fn plain(count: usize) -> Self {
        Self { count, ..Self::default() }
    }

    /// Adds the rows of a sequence.
    pub(super) fn push(&mut self, new: usize, adapter: Option<&Arc<Adapter>>) {
        let rows = self.count..self.count + new;
        self.count = rows.end;
        let Some(adapter) = adapter else {
            return;
        };
        let adapted = Arc::make_mut(&mut self.adapted);
        match adapted.iter_mut().find(|part| Arc::ptr_eq(&part.adapter, adapter)) {
            Some(part) => part.rows.extend(rows),
            None => {
                let adapter = Arc::clone(adapter);
                adapted.push(AdaptedRows { adapter, rows: rows.collect() });
            }
        }
    }
}
