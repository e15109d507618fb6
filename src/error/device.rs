//! Errors of devices and of what they compute.

use crate::outside::short;

/// What a device cannot do, or has computed wrongly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    #[error(
        "device `{name}` cannot compute with quantized weights: take the CPU, or leave the weights unquantized"
    )]
    QuantizedUnsupported { name: &'static str },

    #[error(
        "keys and values in {format} are for the CPU: other devices store them in the type that they compute in"
    )]
    KvFormatUnsupported { format: &'static str },

    #[error("device `{name}` is not compiled in: build with the feature `{feature}`")]
    NotCompiled {
        name: &'static str,
        feature: &'static str,
    },

    #[error(
        "device `{name}` is compiled in but does not work on this machine ({reason}): check its driver, or take another device",
        reason = short(.reason)
    )]
    Missing { name: &'static str, reason: String },

    #[error(
        "no device can be used at {address} ({reason}): lend one there by `16_remote_device --serve {address}`, and where that asks for a token, put it into SLOWBURN_DEVICE_TOKEN",
        address = short(.address),
        reason = short(.reason)
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

    #[error("the device failed: {reason}", reason = short(.0))]
    Failed(String),
}
