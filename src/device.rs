//! Which Burn device computes, and in which type.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use burn::tensor::{DType, Device, Tensor};

use crate::error::{Error, Result};
use crate::panics;

/// A device that can be asked for by name. Which of them work depends on the features that
/// were compiled in, and on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum DeviceChoice {
    /// A GPU if one is compiled in and works, otherwise the CPU
    Auto,
    /// Burn's `flex`, on the CPU
    Cpu,
    /// Burn's older CPU backend
    Ndarray,
    /// An NVIDIA GPU
    Cuda,
    /// Any GPU, through Vulkan, Metal, DirectX 12 or WebGPU
    Wgpu,
}

/// The type of weights, cache and activations.
///
/// It does not depend on the type in which a file stores them. F32 is the default for all files:
/// it holds every f16 and bf16 number exactly, and it is what a CPU multiplies best. The others
/// take half the memory, on a CPU at the cost of speed: f16 is slower for a long prompt, bf16
/// for everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Precision {
    F32,
    F16,
    Bf16,
}

impl Precision {
    /// The name that the flag `--dtype` uses.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::F16 => "f16",
            Precision::Bf16 => "bf16",
        }
    }

    /// Burn's name for it.
    pub fn dtype(self) -> DType {
        match self {
            Precision::F32 => DType::F32,
            Precision::F16 => DType::F16,
            Precision::Bf16 => DType::BF16,
        }
    }
}

/// A device that is there and works.
#[derive(Debug, Clone)]
pub struct OpenDevice {
    /// The name of the choice: `cpu`, `ndarray`, `cuda` or `wgpu`.
    pub name: &'static str,
    /// Burn's handle.
    pub device: Device,
}

impl OpenDevice {
    /// Checks that the device computes in this type.
    ///
    /// # Errors
    /// A type that it lacks.
    pub fn check(&self, precision: Precision) -> Result<DType> {
        let dtype = precision.dtype();
        if self.device.supports_dtype(dtype) {
            return Ok(dtype);
        }
        Err(Error::DTypeUnsupported { name: self.name, dtype: precision.name() })
    }
}

/// Makes Burn's handle of a device.
type Make = fn() -> Device;

/// Opens a device and computes something on it, to see that it works.
///
/// # Errors
/// A device that is not compiled in, or that does not work on this machine.
pub fn open(choice: DeviceChoice) -> Result<OpenDevice> {
    let (name, feature, make) = match choice {
        DeviceChoice::Auto => return first_that_works(),
        DeviceChoice::Cpu => ("cpu", "flex", FLEX),
        DeviceChoice::Ndarray => ("ndarray", "ndarray", NDARRAY),
        DeviceChoice::Cuda => ("cuda", "cuda", CUDA),
        DeviceChoice::Wgpu => ("wgpu", "wgpu", WGPU),
    };
    match make {
        None => Err(Error::DeviceNotCompiled { name, feature }),
        Some(make) => probe(name, make),
    }
}

fn first_that_works() -> Result<OpenDevice> {
    use DeviceChoice::{Cpu, Cuda, Ndarray, Wgpu};
    for choice in [Cuda, Wgpu, Cpu] {
        if let Ok(open) = open(choice) {
            return Ok(open);
        }
    }
    open(Ndarray).or_else(|_| open(Cpu))
}

/// A driver that is missing makes Burn panic where it is first used. That must not reach a
/// person who asked for a GPU, so it is caught, and its message kept from standard error.
fn probe(name: &'static str, make: Make) -> Result<OpenDevice> {
    // The hook belongs to the whole process: two probes at once would mix theirs up.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let device = make();
        let sum = (Tensor::<1>::ones([2], &device) * 2.0).sum();
        sum.try_into_vec_as::<f32>().map(|_| device)
    }));
    std::panic::set_hook(hook);

    let missing = |reason: String| Error::DeviceMissing { name, reason };
    match outcome {
        Ok(Ok(device)) => Ok(OpenDevice { name, device }),
        Ok(Err(error)) => Err(missing(error.to_string())),
        Err(panic) => Err(missing(panics::message(panic.as_ref()))),
    }
}

#[cfg(feature = "flex")]
const FLEX: Option<Make> = Some(Device::flex);
#[cfg(not(feature = "flex"))]
const FLEX: Option<Make> = None;

#[cfg(feature = "ndarray")]
#[allow(deprecated)] // upstream prefers flex; some results are compared on both
const NDARRAY: Option<Make> = Some(Device::ndarray);
#[cfg(not(feature = "ndarray"))]
const NDARRAY: Option<Make> = None;

#[cfg(feature = "cuda")]
const CUDA: Option<Make> = Some(|| Device::cuda(0));
#[cfg(not(feature = "cuda"))]
const CUDA: Option<Make> = None;

#[cfg(feature = "wgpu")]
const WGPU: Option<Make> = Some(|| Device::wgpu(burn::tensor::DeviceKind::DefaultDevice));
#[cfg(not(feature = "wgpu"))]
const WGPU: Option<Make> = None;
