//! Adapters (LoRA: Hu et al., ICLR 2022): small matrices beside those of a model, which change what it computes
//! and leave its weights as they are.
//!
//! Of a weight matrix `W`, `[out, in]`, an adapter makes `W + scale * B A`, where `A` is `[rank, in]` and `B` is
//! `[out, rank]`. The product is never formed: a row `x` gets `W x + scale * B (A x)`, so that rows with
//! different adapters share the product with `W`.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::{Arc, PoisonError, RwLock};

use crate::error::{RequestError, Result};
#[cfg(feature = "burn")]
use crate::kernels::Panels;

/// The matrices of one adapter, for one model: [`Pretrained::read_adapter`](crate::Pretrained::read_adapter).
pub struct Adapter {
    /// A number that no other adapter of this process has had: keys and values depend on it.
    id: NonZeroU64,
    #[cfg(feature = "burn")]
    sites: Arc<Sites>,
    /// What it changes at each of the sites.
    #[cfg(feature = "burn")]
    changes: Vec<Option<Change>>,
}

impl Adapter {
    pub(crate) fn id(&self) -> u64 {
        self.id.get()
    }
}

impl fmt::Debug for Adapter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Adapter").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What an adapter adds to a linear layer.
#[cfg(feature = "burn")]
#[derive(Debug)]
pub(crate) struct Change {
    /// `A`, `[rank, in]`
    pub(crate) down: Panels,
    /// `B`, `[out, rank]`
    pub(crate) up: Panels,
    pub(crate) scale: f32,
}

/// The linear layers of a model that adapters can change.
#[cfg(feature = "burn")]
#[derive(Debug, Default)]
pub(crate) struct Sites(Vec<Site>);

/// A linear layer that adapters can change: some rows of a matrix of the checkpoint.
#[cfg(feature = "burn")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// What a checkpoint calls the matrix, without `.weight`.
    pub(crate) module: String,
    /// `[out, in]`
    pub(crate) shape: [usize; 2],
    /// The first of the rows.
    pub(crate) first: usize,
    /// The rows of the whole matrix.
    pub(crate) total: usize,
    /// Whether these rows are the columns of the layer: so many as it has inputs.
    pub(crate) is_turned: bool,
}

#[cfg(feature = "burn")]
impl Site {
    /// The shape of the whole matrix, `[out, in]`.
    pub(crate) fn whole(&self) -> [usize; 2] {
        let [n_out, n_in] = self.shape;
        [self.total, if self.is_turned { n_out } else { n_in }]
    }
}

#[cfg(feature = "burn")]
impl Sites {
    pub(crate) fn new(sites: Vec<Site>) -> Self {
        Self(sites)
    }

    /// The sites that lie in the matrix of a module, by their numbers. Checkpoints of one model differ in the
    /// names of the modules around it.
    pub(crate) fn of_module<'a>(
        &'a self,
        module: &'a str,
    ) -> impl Iterator<Item = (usize, &'a Site)> {
        let inner = inner_name(module);
        self.0.iter().enumerate().filter(move |(_, site)| inner_name(&site.module) == inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The name of a module inside the decoder.
#[cfg(feature = "burn")]
pub(crate) fn inner_name(module: &str) -> &str {
    const AROUND: [&str; 4] = [
        "model.language_model.",
        "language_model.model.",
        "model.",
        "transformer.",
    ];
    AROUND.iter().find_map(|around| module.strip_prefix(around)).unwrap_or(module)
}

#[cfg(feature = "burn")]
impl Adapter {
    pub(crate) fn new(sites: &Arc<Sites>, changes: Vec<Option<Change>>) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let id = NonZeroU64::new(id).unwrap_or(NonZeroU64::MAX);
        Self { id, sites: Arc::clone(sites), changes }
    }

    /// Whether it was read for the model with these sites.
    pub(crate) fn fits(&self, sites: &Arc<Sites>) -> bool {
        Arc::ptr_eq(&self.sites, sites)
    }

    pub(crate) fn change(&self, site: usize) -> Option<&Change> {
        self.changes.get(site)?.as_ref()
    }

    /// The memory of its matrices, in bytes.
    pub fn bytes(&self) -> usize {
        let bytes = |change: &Change| change.down.bytes() + change.up.bytes();
        self.changes.iter().flatten().map(bytes).sum()
    }
}

/// The adapters that requests can ask for, by their names. Texts in progress keep an adapter that is taken out.
#[derive(Debug, Default)]
pub struct Adapters(RwLock<BTreeMap<String, Arc<Adapter>>>);

impl Adapters {
    /// Adds an adapter, or puts it in the place of the one that had this name.
    pub fn insert(&self, name: impl Into<String>, adapter: Arc<Adapter>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name.into(), adapter);
    }

    /// Takes an adapter out, if there is one of this name.
    pub fn remove(&self, name: &str) -> Option<Arc<Adapter>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(name)
    }

    /// The adapter of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, name: &str) -> Result<Arc<Adapter>> {
        let adapters = self.0.read().unwrap_or_else(PoisonError::into_inner);
        adapters.get(name).cloned().ok_or_else(|| {
            let known = adapters.keys().cloned().collect::<Vec<_>>().join(", ");
            RequestError::AdapterUnknown { name: name.to_owned(), known }.into()
        })
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
}
