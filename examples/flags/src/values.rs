//! The values of flags that are types of the library: their names, and what `--help` says of them.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use slowburn::device::{DeviceChoice, Precision, RemoteAddress};
use slowburn::kernels::{Activations, KvFormat, Quantized, Rounding};
use slowburn::storage::MatrixFormat;

/// A name, the value, and what `--help` says of it, where the name does not say all.
type Named<T> = (&'static str, T, &'static str);

/// The variable of the environment with the token of a device on another machine.
pub const DEVICE_TOKEN: &str = "SLOWBURN_DEVICE_TOKEN";

/// `--device`: a name, or `remote:HOST:PORT`.
#[derive(Clone)]
pub(crate) struct DeviceParser;

impl TypedValueParser for DeviceParser {
    type Value = DeviceChoice;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<DeviceChoice, clap::Error> {
        match value.to_str().and_then(|value| value.strip_prefix("remote:")) {
            Some(host) if !host.is_empty() => Ok(DeviceChoice::Remote(RemoteAddress {
                host: host.to_owned(),
                token: std::env::var(DEVICE_TOKEN).ok(),
            })),
            _ => named_device().parse_ref(command, arg, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let remote = PossibleValue::new("remote:HOST:PORT");
        let values: Vec<_> = named_device().possible_values()?.collect();
        let help = "A device that a server on another machine lends";
        Some(Box::new(values.into_iter().chain([remote.help(help)])))
    }
}

fn named_device() -> impl TypedValueParser<Value = DeviceChoice> {
    one_of(&[
        (
            "auto",
            DeviceChoice::Auto,
            "A GPU if one is compiled in and works, otherwise the CPU",
        ),
        ("cpu", DeviceChoice::Cpu, "The CPU, with the kernels of this crate"),
        ("ndarray", DeviceChoice::Ndarray, "Burn's older CPU backend"),
        ("cuda", DeviceChoice::Cuda, "An NVIDIA GPU"),
        ("rocm", DeviceChoice::Rocm, "An AMD GPU"),
        (
            "metal",
            DeviceChoice::Metal,
            "A GPU of Apple, with kernels in Metal's own language",
        ),
        (
            "vulkan",
            DeviceChoice::Vulkan,
            "Any GPU with a driver for Vulkan, with kernels in SPIR-V",
        ),
        (
            "wgpu",
            DeviceChoice::Wgpu,
            "Any GPU, through Vulkan, Metal, DirectX 12 or WebGPU",
        ),
        (
            "cube-cpu",
            DeviceChoice::CubeCpu,
            "The kernels for GPUs on the CPU, compiled by LLVM: slow, to look at them without a GPU",
        ),
    ])
}

/// `--dtype` of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// That of most numbers in the files, where the device takes it, and otherwise f32. The bundled
    /// models are computed in f32.
    Auto,
    Of(Precision),
}

/// `--dtype` of a model: a format, or `auto`.
pub(crate) fn dtype() -> impl TypedValueParser<Value = Dtype> {
    one_of(&[
        (
            "auto",
            Dtype::Auto,
            "That of most numbers in the files, where the device takes it, otherwise f32",
        ),
        ("f32", Dtype::Of(Precision::F32), ""),
        ("f16", Dtype::Of(Precision::F16), ""),
        ("bf16", Dtype::Of(Precision::Bf16), ""),
    ])
}

/// A `--dtype` that needs no files: `f32`, `f16` or `bf16`.
pub fn precision() -> impl TypedValueParser<Value = Precision> {
    one_of(&[
        ("f32", Precision::F32, ""),
        ("f16", Precision::F16, ""),
        ("bf16", Precision::Bf16, ""),
    ])
}

const INT8: &str = "8 bits: -127 to 127, and a scale in f16";
const INT4: &str = "4 bits: -8 to 7, and a scale in f16";

/// `--quantize`.
pub(crate) fn quantized() -> impl TypedValueParser<Value = Quantized> {
    one_of(&[
        ("int8", Quantized::Int8, INT8),
        ("int4", Quantized::Int4, INT4),
    ])
}

/// `--quantize-embedding`.
pub(crate) fn matrix_format() -> impl TypedValueParser<Value = MatrixFormat> {
    one_of(&[
        ("f32", MatrixFormat::Dense(Precision::F32), ""),
        ("f16", MatrixFormat::Dense(Precision::F16), ""),
        ("bf16", MatrixFormat::Dense(Precision::Bf16), ""),
        ("int8", MatrixFormat::Quantized(Quantized::Int8), INT8),
        ("int4", MatrixFormat::Quantized(Quantized::Int4), INT4),
    ])
}

/// `--rounding`.
pub(crate) fn rounding() -> impl TypedValueParser<Value = Rounding> {
    one_of(&[
        (
            "nearest",
            Rounding::Nearest,
            "The scale that represents the number of greatest magnitude as the greatest integer",
        ),
        (
            "least-squares",
            Rounding::LeastSquares,
            "Of several scales, that with the least squared error. For each set of integers, the \
             best scale is the solution of a least-squares problem, as in llama.cpp's \
             `make_qx_quants`. Loading takes several times as long",
        ),
    ])
}

/// `--activations`.
pub(crate) fn activations() -> impl TypedValueParser<Value = Activations> {
    one_of(&[
        ("f32", Activations::F32, "As they are: the weights are converted to f32"),
        (
            "bf16",
            Activations::Bf16,
            "For weights in bf16: rounded to bf16, less accurate, and for many rows faster, where the \
             processor has products of bf16",
        ),
        (
            "int8",
            Activations::Int8,
            "For quantized weights: each group rounded to integers from -127 to 127, with a scale in f32: less accurate, \
             and for many rows faster, since products of integers are cheap",
        ),
    ])
}

/// `--kv-dtype`.
pub(crate) fn kv_format() -> impl TypedValueParser<Value = KvFormat> {
    one_of(&[
        ("f32", KvFormat::F32, ""),
        ("f16", KvFormat::F16, ""),
        ("bf16", KvFormat::Bf16, ""),
        (
            "int8",
            KvFormat::Int8,
            "8-bit integers, in groups of 16 numbers of one position that share a scale in f16",
        ),
    ])
}

/// Takes one of these names.
fn one_of<T>(values: &'static [Named<T>]) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let shown = values.iter().map(|(name, _, help)| {
        let value = PossibleValue::new(*name);
        if help.is_empty() {
            value
        } else {
            value.help(*help)
        }
    });
    // clap has refused all other names before.
    PossibleValuesParser::new(shown).try_map(move |given| {
        let found = values.iter().find(|(name, ..)| *name == given);
        found.map(|(_, value, _)| value.clone()).ok_or("a name that is not in the list")
    })
}
