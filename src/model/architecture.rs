//! A network of Burn's operations.

use burn::tensor::{DType, Device, Int, Tensor, TensorData, s};

#[cfg(feature = "cube")]
use super::MostLikely;
use super::config::{Family, ModelConfig};
use super::decoder::{self, Decoder};
use super::gpt2::{self, Gpt2};
use super::network::Output;
use super::pass::Pass;
#[cfg(feature = "cube")]
use super::recorded::Recorder;
use super::rope::Ropes;
use super::source::Source;
#[cfg(feature = "cube")]
use crate::cube::argmax;
use crate::device;
use crate::error::{DeviceError, Error, Result};

/// A network of Burn's operations, with the RoPE frequencies where it uses them.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a model has one")]
pub(super) enum Architecture {
    Llama {
        decoder: Decoder,
        ropes: Ropes,
        #[cfg(feature = "cube")]
        recorder: Option<Recorder>,
    },
    Gpt2(Gpt2),
}

/// What a network finds for the tokens that were asked for.
#[derive(Debug, Clone)]
pub(super) enum Found {
    /// `[1, tokens, d_model or vocab]`
    Rows(Tensor<3>),
    /// The most likely ones, `[tokens]`.
    #[cfg(feature = "cube")]
    Ids(Tensor<1, Int>),
}

/// Whether the head may share the embedding's matrix: see [`Source::shares`].
///
/// # Errors
/// A tensor that has another shape, or is stored in a type that is not read.
pub(super) fn shares_head(weights: &dyn Source, config: &ModelConfig) -> Result<bool> {
    let (prefixes, name) = match &config.family {
        Family::Llama(_) => (&decoder::PREFIXES[..], "embed_tokens"),
        Family::Gpt2 => (&gpt2::PREFIXES[..], "wte"),
    };
    let [embedding, head] = [
        embedding_name(weights, config, prefixes, name),
        head_name(weights),
    ];
    if embedding == head {
        return Ok(true);
    }
    let [embedding, head] = [embedding, head].map(|name| format!("{name}.weight"));
    weights.shares(&head, &embedding, [config.vocab_size, config.d_model])
}

/// What the head is called, without `.weight`.
pub(super) fn head_name(weights: &dyn Source) -> String {
    format!("{}lm_head", weights.prefix(&decoder::HEAD_PREFIXES, "lm_head.weight"))
}

/// What the embedding is called, without `.weight`: its own name, or, where a checkpoint ties the two
/// and stores only the head, the head's. transformers reads such files too.
pub(super) fn embedding_name(
    weights: &dyn Source,
    config: &ModelConfig,
    prefixes: &[&'static str],
    name: &str,
) -> String {
    let has = |name: &str| weights.has(&format!("{name}.weight"));
    let prefix = weights.prefix(prefixes, &format!("{name}.weight"));
    let (embedding, head) = (format!("{prefix}{name}"), head_name(weights));
    if config.tied_head && has(&head) && !has(&embedding) {
        head
    } else {
        embedding
    }
}

impl Architecture {
    pub(super) fn load(weights: &dyn Source, config: &ModelConfig) -> Result<Self> {
        match &config.family {
            Family::Llama(llama) => {
                let decoder = Decoder::load(weights, config, llama)?;
                let ropes = Ropes::of(config, llama);
                Ok(Self::Llama {
                    #[cfg(feature = "cube")]
                    recorder: Recorder::of(&decoder, &ropes, config.n_heads, weights.dtype()),
                    decoder,
                    ropes,
                })
            }
            Family::Gpt2 => Ok(Self::Gpt2(Gpt2::load(weights, config)?)),
        }
    }

    // ANCHOR: rows
    /// Runs the network over a row of token ids, and returns the `output` of the `wanted` columns,
    /// or nothing if there are none.
    pub(super) fn rows(
        &self,
        row: &[u32],
        wanted: &[usize],
        pass: &mut Pass<'_>,
        output: Output,
        device: &Device,
    ) -> Result<Option<Found>> {
        let ids: Tensor<2, Int> = tensor_of(row, device).unsqueeze(); // [1, row.len()]
        let hidden = self.hidden_states(ids, pass); // [1, row.len(), d_model]
        if wanted.is_empty() {
            wait_for(hidden)?;
            return Ok(None);
        }
        let hidden = if wanted.len() == row.len() {
            hidden // each token's logits are wanted, as in a decode step
        } else {
            hidden.select(1, tensor_of(wanted, device))
        };
        Ok(Some(match self {
            Self::Llama { decoder, .. } => output.of(hidden, |hidden| decoder.logits(hidden)),
            Self::Gpt2(gpt2) => output.of(hidden, |hidden| gpt2.logits(hidden)),
        }))
    }
    // ANCHOR_END: rows

    /// As [`rows`](Self::rows), where the launches of such a pass are recorded: None otherwise.
    #[cfg(feature = "cube")]
    pub(super) fn recorded(
        &self,
        row: &[u32],
        wanted: &[usize],
        pass: &mut Pass<'_>,
        output: Output,
        device: &Device,
    ) -> Result<Option<Found>> {
        match self {
            Self::Llama { decoder, ropes, recorder: Some(recorder) }
                if wanted.len() == row.len() =>
            {
                recorder.step((decoder, ropes), row, pass, output, device)
            }
            _ => Ok(None),
        }
    }

    /// The hidden states before the head: `[batch, seq]` -> `[batch, seq, d_model]`.
    pub(super) fn hidden_states(&self, ids: Tensor<2, Int>, pass: &mut Pass<'_>) -> Tensor<3> {
        match self {
            Self::Llama { decoder, ropes, .. } => decoder.hidden_states(ids, ropes, pass),
            Self::Gpt2(gpt2) => gpt2.hidden_states(ids, pass),
        }
    }
}

impl Output {
    /// What becomes of hidden states, `[1, tokens, d_model]`; the head makes logits of them, `[1, tokens, vocab]`.
    pub(super) fn of(self, hidden: Tensor<3>, head: impl FnOnce(Tensor<3>) -> Tensor<3>) -> Found {
        match self {
            Self::HiddenStates => Found::Rows(hidden),
            Self::Logits => Found::Rows(head(hidden)),
            #[cfg(feature = "cube")]
            Self::MostLikely => Found::Ids(argmax::argmax(head(hidden).squeeze_dim(0))),
        }
    }
}

/// A tensor of ids or columns, `[numbers]`. All of them fit into an i32: an id is the row of an
/// embedding.
pub(super) fn tensor_of<T: Copy + TryInto<i32>>(numbers: &[T], device: &Device) -> Tensor<1, Int> {
    Tensor::from_data(TensorData::new(numbers_of(numbers), [numbers.len()]), device)
}

/// Ids or columns as a device takes them.
pub(super) fn numbers_of<T: Copy + TryInto<i32>>(numbers: &[T]) -> Vec<i32> {
    numbers.iter().map(|&number| number.try_into().unwrap_or(i32::MAX)).collect()
}

/// As [`to_host`], row by row: `[1, rows, width]`.
pub(super) fn rows_to_host(rows: Tensor<3>) -> Result<Vec<Vec<f32>>> {
    let [_, _, width] = rows.dims();
    Ok(to_host(rows)?.chunks(width).map(<[f32]>::to_vec).collect())
}

/// The most likely tokens that a device has found, `[tokens]`.
#[cfg(feature = "cube")]
pub(super) fn most_likely_of(ids: Tensor<1, Int>) -> Result<Vec<MostLikely>> {
    let ids = ids.try_into_vec_as::<i32>();
    let ids = ids.map_err(|error| Error::Device(DeviceError::Failed(error.to_string())))?;
    let token = |id| match id {
        argmax::NAN => Err("one of them is NaN"),
        argmax::INFINITE => Err("one of them is infinite"),
        argmax::NONE => Err("none of them is finite"),
        id => Ok(id as u32),
    };
    Ok(ids.into_iter().map(token).collect())
}

/// Waits until a GPU has computed the hidden states, `[1, seq, d_model]`, and has written the keys and values on
/// the way. A launch that failed is an error only of what reads its results, so one number is read.
fn wait_for(hidden: Tensor<3>) -> Result<()> {
    let [_, seq, _] = hidden.dims();
    if seq > 0 && device::has_cubes(&hidden.device()) {
        to_host(hidden.slice(s![.., ..1, ..1]))?;
    }
    Ok(())
}

/// Waits for the device and copies a tensor into host memory, in row-major order.
pub(crate) fn to_host<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>> {
    let values = tensor.cast(DType::F32).try_into_vec_as::<f32>();
    values.map_err(|error| Error::Device(DeviceError::Failed(error.to_string())))
}
