//! The architectures that a [`Model`](super::Model) can run.

use burn::tensor::{Int, Tensor};

use super::config::{Family, ModelConfig};
use super::decoder::Decoder;
use super::encoder::Encoder;
use super::gpt2::Gpt2;
use super::pass::Pass;
use super::rope::Rope;
use super::source::Source;
use super::trace::Trace;
use crate::error::{Error, Result};

/// A network, with the RoPE frequencies where it uses them.
#[derive(Debug)]
pub(super) enum Architecture {
    Llama { decoder: Decoder, rope: Rope },
    Gpt2(Gpt2),
    Encoder(Encoder),
}

impl Architecture {
    pub(super) fn load(weights: &dyn Source, config: &ModelConfig) -> Result<Self> {
        match &config.family {
            Family::Llama(llama) => Ok(Self::Llama {
                decoder: Decoder::load(weights, config, llama)?,
                rope: Rope::new(&llama.rope, config.head_dim),
            }),
            Family::Gpt2 => Ok(Self::Gpt2(Gpt2::load(weights, config)?)),
            Family::Encoder if weights.is_random() => {
                Ok(Self::Encoder(Encoder::random(config, weights.device())))
            }
            Family::Encoder => Err(Error::Parameter {
                name: "family",
                value: "Encoder".to_owned(),
                allowed: "one that has checkpoints (an encoder only starts from random weights)",
            }),
        }
    }

    /// The hidden states before the head: `[batch, seq]` -> `[batch, seq, d_model]`.
    ///
    /// # Errors
    /// A KV cache for an architecture that does not support one.
    pub(super) fn hidden_states(
        &self,
        ids: Tensor<2, Int>,
        pass: &mut Pass<'_>,
    ) -> Result<Tensor<3>> {
        match self {
            Self::Llama { decoder, rope } => Ok(decoder.hidden_states(ids, rope, pass)),
            Self::Gpt2(gpt2) => Ok(gpt2.hidden_states(ids, pass)),
            Self::Encoder(encoder) if !pass.keeps() => Ok(encoder.hidden_states(ids)),
            Self::Encoder(_) => Err(Error::NoKvCache),
        }
    }

    /// The way of the last token through a network of the Llama family.
    pub(super) fn trace(&self, ids: Tensor<2, Int>, pass: &mut Pass<'_>) -> Result<Option<Trace>> {
        match self {
            Self::Llama { decoder, rope } => decoder.trace(ids, rope, pass).map(Some),
            Self::Gpt2(_) | Self::Encoder(_) => Ok(None),
        }
    }

    /// Whether the network supports a KV cache.
    pub(super) fn can_cache(&self) -> bool {
        !matches!(self, Self::Encoder(_))
    }

    /// The head: `[batch, seq, d_model]` -> logits `[batch, seq, vocab]`.
    pub(super) fn logits(&self, hidden: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Llama { decoder, .. } => decoder.logits(hidden),
            Self::Gpt2(gpt2) => gpt2.logits(hidden),
            Self::Encoder(encoder) => encoder.logits(hidden),
        }
    }

    /// Whether a checkpoint may hold a tensor of this name that the network does not use.
    pub(super) fn can_do_without(&self, tensor: &str) -> bool {
        match self {
            Self::Llama { .. } => Decoder::can_do_without(tensor),
            Self::Gpt2(_) => Gpt2::can_do_without(tensor),
            Self::Encoder(_) => false,
        }
    }
}
