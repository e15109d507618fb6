//! Errors of devices and of what they compute.

use crate::outside::{in_words, short};

/// What a device can't do, or has computed wrongly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    #[error(
        "device `{name}` cannot compute with quantized weights: take the CPU, or leave the weights unquantized"
    )]
    QuantizedUnsupported { name: &'static str },

    #[error(
        "device `{name}` cannot compute with activations in {format}: take the CPU, or leave out the format of activations"
    )]
    ActivationsUnsupported {
        name: &'static str,
        format: &'static str,
    },

    #[error(
        "this device cannot store keys and values in {format}: take the CPU, or leave them in the type of the weights"
    )]
    KvFormatUnsupported { format: &'static str },

    #[error(
        "this device cannot compute with adapters: take the CPU, or merge the adapter into the model (`slowburn merge`)"
    )]
    AdaptersUnsupported,

    #[error("device `{name}` is not compiled in: build with the feature `{feature}`")]
    NotCompiled {
        name: &'static str,
        feature: &'static str,
    },

    #[error(
        "device `{name}` is compiled in but does not work on this machine ({reason}): check its driver, or take another device",
        reason = in_words(.reason)
    )]
    Missing { name: &'static str, reason: String },

    #[error(
        "no device can be used at {address} ({reason}): lend one there by `17_remote_device --serve {address}`, and where that asks for a token, put it into SLOWBURN_DEVICE_TOKEN",
        address = short(.address),
        reason = in_words(.reason)
    )]
    Unreachable { address: String, reason: String },

    #[error("device `{name}` cannot compute in {dtype}: take f32")]
    DTypeUnsupported {
        name: &'static str,
        dtype: &'static str,
    },

    #[error("the logits of step {step} are unusable: {problem}; the weights may be damaged")]
    Logits { step: usize, problem: &'static str },

    #[error(
        "the hidden states of the text are unusable: they are not finite, or all are 0; the weights may be damaged"
    )]
    HiddenStates,

    #[error("the device failed: {reason}", reason = in_words(.0))]
    Failed(String),
}
