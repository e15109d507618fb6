//! The model that a record was made with.

use serde::{Deserialize, Serialize};

use super::record::hash_of;
#[cfg(feature = "burn")]
use crate::kernels::Rounding;
use crate::model::{Input, Model};
use crate::panics;

/// What decides the bits of logits: the model, and how its numbers are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedModel {
    /// The sizes of the network.
    pub shape: String,
    /// The formats of the weights, that of the most weights first.
    pub weights: String,
    /// The formats of the embedding and of the head.
    pub embedding: String,
    /// How the scales of weights were chosen that were quantized when they were loaded.
    pub rounding: String,
    /// What quantized weights are multiplied with.
    pub activations: String,
    /// The format of keys and values.
    pub keys_and_values: String,
    /// Where the model computes.
    pub device: String,
    /// The hash of the logits after the token 0, which tells one set of weights from another. None
    /// where the model could not compute them then, such as without memory.
    pub logits: Option<String>,
}

impl RecordedModel {
    /// The description of `model`, which runs once for it.
    pub fn of(model: &Model) -> Self {
        let config = model.config();
        let pass = || model.forward(&mut [Input::whole(&[0])]);
        let logits = panics::contain("the model", pass).flatten();
        Self {
            shape: format!(
                "{} layers of {} numbers and {} heads, {} tokens",
                config.n_layers, config.d_model, config.n_heads, config.vocab_size
            ),
            logits: logits.ok().map(|rows| hash_of(rows.iter().flatten())),
            ..Self::stored(model)
        }
    }

    /// How the numbers of `model` are stored.
    #[cfg(feature = "burn")]
    fn stored(model: &Model) -> Self {
        let Some(device) = model.device() else {
            return Self::default(); // a stub says nothing of that
        };
        let storage = model.storage();
        let rounding = match storage.map(|storage| storage.rounding).unwrap_or_default() {
            Rounding::Nearest => "nearest",
            Rounding::LeastSquares => "least-squares",
        };
        let activations = storage.map(|storage| storage.activations).unwrap_or_default();
        Self {
            weights: model.weight_formats().join(", "),
            embedding: model.embedding_formats().join(", "),
            rounding: rounding.to_owned(),
            activations: activations.name().to_owned(),
            keys_and_values: model.kv_pool().format().name().to_owned(),
            device: format!("{device:?}"),
            ..Self::default()
        }
    }

    /// A stub says nothing of that.
    #[cfg(not(feature = "burn"))]
    fn stored(_: &Model) -> Self {
        Self::default()
    }

    /// In what `now` differs, as text; empty if it is the same. Weights are compared where all else is
    /// equal.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let of = |name: &str, before: &str, now: &str| {
            (before != now).then(|| format!("{name}: {before}, now {now}"))
        };
        let differences: Vec<String> = [
            of("the network", &self.shape, &now.shape),
            of("weights", &self.weights, &now.weights),
            of("the embedding", &self.embedding, &now.embedding),
            of("rounding", &self.rounding, &now.rounding),
            of("activations", &self.activations, &now.activations),
            of("keys and values", &self.keys_and_values, &now.keys_and_values),
            of("the device", &self.device, &now.device),
        ]
        .into_iter()
        .flatten()
        .collect();
        match (&self.logits, &now.logits) {
            (Some(before), Some(now)) if differences.is_empty() => {
                of("the hash of logits after the token 0", before, now).into_iter().collect()
            }
            _ => differences,
        }
    }
}
