//! A network, and where it computes.

#[cfg(feature = "burn")]
use burn::tensor::{Device, Tensor};

#[cfg(feature = "burn")]
use std::sync::Arc;

use super::pass::Pass;
use super::stub::Stub;
#[cfg(feature = "cube")]
use super::{MostLikely, architecture::most_likely_of};
#[cfg(feature = "burn")]
use super::{
    architecture::{Architecture, Found, rows_to_host, tensor_of, to_host},
    config::ModelConfig,
    decoder::Mixing,
    host::{Host, Stop},
    source::Source,
    trace::Trace,
};
use crate::error::Result;
#[cfg(feature = "burn")]
use crate::{
    adapter::Sites,
    device::{self, in_one_queue},
    error::RequestError,
};

/// A network, in the form in which it computes. That of weights is decided once, by `load`.
#[derive(Debug)]
#[cfg_attr(
    feature = "burn",
    expect(clippy::large_enum_variant, reason = "a model has one")
)]
pub(super) enum Network {
    /// On the CPU: vectors in host memory, and the kernels of this crate.
    #[cfg(feature = "burn")]
    Host(Host),
    /// Everywhere else: Burn's tensors.
    #[cfg(feature = "burn")]
    Tensors {
        architecture: Architecture,
        device: Device,
    },
    /// Without weights: what a caller brings.
    Stub(Stub),
}

/// What a forward pass returns of the requested tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// The hidden states after the last norm, `[d_model]`.
    #[cfg(feature = "burn")]
    HiddenStates,
    /// What the head makes of them, `[vocab]`.
    Logits,
    /// The id of the greatest of these.
    #[cfg(feature = "cube")]
    MostLikely,
}

impl Network {
    /// Runs the network over a row of token ids, `[seq]`, and returns the `output` of the `wanted`
    /// columns.
    ///
    /// # Errors
    /// A KV cache for an architecture that does not support one; a device that fails; an error of a stub,
    /// or hidden states of one.
    pub(super) fn rows(
        &self,
        row: &[u32],
        wanted: &[usize],
        pass: &mut Pass<'_>,
        output: Output,
    ) -> Result<Vec<Vec<f32>>> {
        if row.is_empty() {
            return Ok(Vec::new());
        }
        match self {
            #[cfg(feature = "burn")]
            Self::Host(host) => Ok(host.rows(row, wanted, pass, output)),
            #[cfg(feature = "burn")]
            Self::Tensors { architecture, device } => {
                match found(architecture, row, wanted, pass, output, device)? {
                    Some(Found::Rows(rows)) => in_one_queue(device, || rows_to_host(rows)),
                    _ => Ok(Vec::new()),
                }
            }
            Self::Stub(stub) => match output {
                #[cfg(feature = "cube")]
                Output::MostLikely => Ok(Vec::new()), // has no such output
                Output::Logits => stub.rows(row, wanted, pass),
                #[cfg(feature = "burn")]
                Output::HiddenStates => Err(RequestError::Parameter {
                    name: "the model",
                    value: "a stub".to_owned(),
                    allowed: "one with weights (a stub has logits and no hidden states)",
                }
                .into()),
            },
        }
    }

    /// Whether the network reads keys and values from blocks only, also those of a sequence without
    /// a KV cache.
    pub(super) fn needs_blocks(&self) -> bool {
        match self {
            #[cfg(feature = "burn")]
            Self::Host(_) => true,
            #[cfg(feature = "burn")]
            Self::Tensors { device, .. } => device::has_cubes(device),
            Self::Stub(_) => false,
        }
    }
}

#[cfg(feature = "burn")]
impl Network {
    /// Loads the tensors that `config` requires from `weights`.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape or type.
    pub(super) fn load(weights: &dyn Source, config: &ModelConfig) -> Result<Self> {
        let device = weights.device();
        if device::has_kernels(device) {
            return Ok(Self::Host(Host::load(weights, config)?));
        }
        let architecture = in_one_queue(device, || Architecture::load(weights, config))?;
        Ok(Self::Tensors { architecture, device: device.clone() })
    }

    /// The linear layers that adapters can change: on the CPU alone.
    pub(super) fn sites(&self) -> Option<&Arc<Sites>> {
        match self {
            Self::Host(host) => Some(host.sites()),
            Self::Tensors { .. } | Self::Stub(_) => None,
        }
    }

    /// The most likely token after each of the `wanted` columns, on a GPU: it finds them itself, and only
    /// their ids are copied.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    #[cfg(feature = "cube")]
    pub(super) fn most_likely(
        &self,
        row: &[u32],
        wanted: &[usize],
        pass: &mut Pass<'_>,
    ) -> Result<Vec<MostLikely>> {
        let Self::Tensors { architecture, device } = self else {
            return Ok(Vec::new()); // on the CPU, logits are in host memory anyway
        };
        match found(architecture, row, wanted, pass, Output::MostLikely, device)? {
            Some(Found::Ids(ids)) => in_one_queue(device, || most_likely_of(ids)),
            _ => Ok(Vec::new()),
        }
    }

    /// The queries, `[seq, n_heads * head_dim]`, and the keys, `[seq, n_kv_heads * head_dim]`, that
    /// attention takes in each layer that has some, for a row of token ids.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub(super) fn queries_and_keys(
        &self,
        row: &[u32],
        pass: &mut Pass<'_>,
    ) -> Result<Vec<Option<[Vec<f32>; 2]>>> {
        match self {
            Self::Host(host) => {
                let mut seen = Vec::new();
                let mut query = Vec::new();
                host.hidden_states(row, pass, &mut |stop, x| match stop {
                    Stop::AttentionInput => seen.push(None), // of a family that may have layers without
                    Stop::RotatedQuery => query = x.to_vec(),
                    Stop::RotatedKey => {
                        seen.pop_if(|layer| layer.is_none());
                        seen.push(Some([std::mem::take(&mut query), x.to_vec()]));
                    }
                    _ => {}
                });
                Ok(seen)
            }
            Self::Tensors { architecture, device } => in_one_queue(device, || {
                pass.keep_seen();
                architecture.hidden_states(tensor_of(row, device).unsqueeze(), pass);
                let on_host = |[q, k]: [Tensor<4>; 2]| Ok([to_host(q)?, to_host(k)?]);
                let seen = pass.take_seen().into_iter();
                seen.map(|layer| layer.map(on_host).transpose()).collect()
            }),
            Self::Stub(_) => Ok(Vec::new()),
        }
    }

    /// The sinks of the heads of each layer, `[n_heads]`, where it has some.
    ///
    /// # Errors
    /// A device that fails.
    pub(super) fn sinks(&self) -> Result<Vec<Option<Vec<f32>>>> {
        match self {
            Self::Host(Host::Llama(llama)) => Ok(llama.sinks()),
            Self::Tensors { architecture: Architecture::Llama { decoder, .. }, device } => {
                let sinks = decoder.layers.iter().map(|layer| match &layer.mixing {
                    Mixing::Heads(attention) => attention.sinks(),
                    _ => None,
                });
                in_one_queue(device, || sinks.map(|sinks| sinks.map(to_host).transpose()).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The weights of the experts, `[seq, experts]`, in each layer that has some, on the CPU.
    pub(super) fn routing(&self, row: &[u32], pass: &mut Pass<'_>) -> Vec<Vec<f32>> {
        let mut routing = Vec::new();
        if let Self::Host(host) = self {
            host.hidden_states(row, pass, &mut |stop, x| {
                if stop == Stop::Routing {
                    routing.push(x.to_vec());
                }
            });
        }
        routing
    }

    /// The way of the last token of a row, `[seq]`, through a network of the Llama family.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub(super) fn trace(
        &self,
        row: &[u32],
        pass: &mut Pass<'_>,
        config: &ModelConfig,
    ) -> Result<Option<Trace>> {
        match self {
            Self::Host(Host::Llama(llama)) => Ok(Some(llama.trace(row, pass, config))),
            Self::Host(_) | Self::Stub(_) => Ok(None),
            Self::Tensors { architecture, device } => match architecture {
                Architecture::Llama { decoder, ropes, .. } => in_one_queue(device, || {
                    let ids = tensor_of(row, device).unsqueeze();
                    decoder.trace(ids, ropes, pass).map(Some)
                }),
                _ => Ok(None),
            },
        }
    }
}

/// What the network finds for the `wanted` columns of a row.
#[cfg(feature = "burn")]
fn found(
    architecture: &Architecture,
    row: &[u32],
    wanted: &[usize],
    pass: &mut Pass<'_>,
    output: Output,
    device: &Device,
) -> Result<Option<Found>> {
    #[cfg(feature = "cube")]
    if let Some(found) = architecture.recorded(row, wanted, pass, output, device)? {
        return Ok(Some(found));
    }
    in_one_queue(device, || architecture.rows(row, wanted, pass, output, device))
}
