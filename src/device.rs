//! Where to compute, and with which precision.

#[cfg(any(feature = "cuda", feature = "rocm"))]
mod cards;
#[cfg(feature = "cube-cpu")]
mod cube_cpu;
#[cfg(feature = "remote")]
mod remote;
#[cfg(all(feature = "wgpu", not(target_family = "wasm")))]
mod wgpu;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(feature = "cube")]
use std::sync::{PoisonError, RwLock};

use burn::tensor::{DType, Device, StreamId, Tensor};

#[cfg(feature = "cube")]
use crate::cube;
use crate::error::{DeviceError, Error, Result};
use crate::kernels::Activations;
use crate::panics;
pub use crate::storage::Precision;
use crate::storage::Storage;

/// A device selected by name. Whether it works depends on the compiled features and on the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A GPU if one is compiled in and works, otherwise the CPU
    Auto,
    /// The CPU, with the kernels of this crate
    Cpu,
    /// Burn's older CPU backend
    Ndarray,
    /// An NVIDIA GPU
    Cuda,
    /// An AMD GPU
    Rocm,
    /// A GPU of Apple, with kernels in Metal's own language
    Metal,
    /// Any GPU with a driver for Vulkan, with kernels in SPIR-V
    Vulkan,
    /// Any GPU, through Vulkan, Metal, DirectX 12 or WebGPU
    Wgpu,
    /// The kernels for GPUs on the CPU, compiled by LLVM: slow, to look at them without a GPU
    CubeCpu,
    /// A device that a server on another machine lends
    Remote(RemoteAddress),
}

/// Where a server lends a device, and what it asks for. Nothing on the way is encrypted, the token
/// neither.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteAddress {
    /// Host and port: `127.0.0.1:3000`.
    pub host: String,
    /// The token of a server that wants one.
    pub token: Option<String>,
}

/// Without the token, which belongs in no log.
impl fmt::Debug for RemoteAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RemoteAddress").field("host", &self.host).finish_non_exhaustive()
    }
}

/// A device that was opened and works.
#[derive(Debug, Clone)]
pub struct OpenDevice {
    /// The name of the choice, as `--device` has it: `cpu`, `cuda`, `wgpu`, `remote` and so on.
    pub name: &'static str,
    /// Burn's handle.
    pub device: Device,
    /// The driver's adapter, or the address of another machine; none where Burn itself computes on the CPU.
    pub adapter: Option<Adapter>,
    /// Whether models that are loaded on the device must give a row the same bits whatever else is in
    /// the batch. The kernels of this crate do so always. But for many rows in 16 bits, Burn's product is
    /// faster on a GPU whose units for products of matrices have no kernel here, which is every one but NVIDIA's
    /// since Ampere: without this, it is taken there. Where a
    /// driver's compiler may change the order of additions (Metal, DirectX 12), neither is certain.
    pub batch_invariant: bool,
}

/// An adapter, which a driver offers for compute.
#[derive(Debug, Clone)]
pub struct Adapter {
    /// The driver's name for the adapter: `NVIDIA H200`.
    pub name: String,
    /// Whether the adapter is a GPU. Some are software that computes on the CPU, slowly.
    pub is_gpu: bool,
}

impl OpenDevice {
    /// Checks that the device supports weights that are stored so. Returns the type of those that
    /// are not quantized.
    ///
    /// # Errors
    /// An unsupported type; quantized weights on a device for which there are no kernels; activations
    /// in int8 or bf16 on another device than the CPU.
    pub fn check(&self, storage: impl Into<Storage>) -> Result<DType> {
        let storage = storage.into();
        if has_cubes(&self.device) && storage.activations != Activations::F32 {
            let (name, format) = (self.name, storage.activations.name());
            return Err(DeviceError::ActivationsUnsupported { name, format }.into());
        }
        if storage.needs_kernels() && !has_kernels(&self.device) && !has_cubes(&self.device) {
            return Err(DeviceError::QuantizedUnsupported { name: self.name }.into());
        }
        let Storage { precision, .. } = storage;
        if self.supports(precision) {
            return Ok(precision.dtype());
        }
        Err(DeviceError::DTypeUnsupported { name: self.name, dtype: precision.name() }.into())
    }

    /// Whether the device takes weights in this format.
    pub fn supports(&self, precision: Precision) -> bool {
        self.device.supports_dtype(precision.dtype())
    }

    fn is_gpu(&self) -> bool {
        self.adapter.as_ref().is_some_and(|adapter| adapter.is_gpu)
    }
}

/// The names of the device and its adapter: `wgpu (NVIDIA H200)`.
impl fmt::Display for OpenDevice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)?;
        match &self.adapter {
            Some(adapter) => write!(out, " ({})", adapter.name),
            None => Ok(()),
        }
    }
}

/// Whether the kernels of this crate compute for this device, and not Burn: for `flex`, unless
/// gradients are kept.
pub(crate) fn has_kernels(device: &Device) -> bool {
    #[cfg(feature = "flex")]
    return *device == Device::flex() && !device.is_autodiff();
    #[cfg(not(feature = "flex"))]
    return {
        let _ = device;
        false
    };
}

/// Whether the kernels of this crate for GPUs compute for this device where Burn has none: for all
/// devices of Burn's `Cube` backend, unless gradients are kept.
pub(crate) fn has_cubes(device: &Device) -> bool {
    #[cfg(feature = "cube")]
    return matches!(device.as_dispatch(), burn::backend::DispatchDevice::Cube(_));
    #[cfg(not(feature = "cube"))]
    return {
        let _ = device;
        false
    };
}

/// Held by who launches, and alone by who records.
#[cfg(feature = "cube")]
static LAUNCHING: RwLock<()> = RwLock::new(());

/// Runs `work` so that what it launches on a GPU is in one queue, whichever thread this is.
///
/// Burn has a queue for each thread. Of two, one waits for the other only where it takes a tensor that was
/// allocated there: not for what was written to a slab in place meanwhile. And each launch that takes a tensor
/// of another queue, such as a weight, waits in line for a third queue.
pub(crate) fn in_one_queue<T>(device: &Device, work: impl FnOnce() -> T) -> T {
    if has_cubes(device) {
        #[cfg(feature = "cube")]
        let _launching = LAUNCHING.read().unwrap_or_else(PoisonError::into_inner);
        StreamId { value: 0 }.executes(work)
    } else {
        work()
    }
}

/// As [`in_one_queue`] on a GPU, while no other thread launches there: what it does would be recorded too. None
/// where one does. `work` must not wait for such a thread, nor call either function.
#[cfg(feature = "cube")]
pub(crate) fn alone_in_queue<T>(work: impl FnOnce() -> T) -> Option<T> {
    let _alone = LAUNCHING.try_write().ok()?;
    Some(StreamId { value: 0 }.executes(work))
}

/// Whether the tensors of this device are in host memory.
pub(crate) fn computes_on_host(device: &Device) -> bool {
    #[cfg(feature = "cube-cpu")]
    if *device == Device::cpu() {
        return true;
    }
    let is_it = |make| matches!(make, Make::Host(make) if make() == *device);
    [FLEX, NDARRAY].into_iter().flatten().any(is_it)
}

/// How many kernels this process has launched on GPUs, those of Burn included, since it opened one. On
/// the CPU nothing is launched.
pub fn launches() -> u64 {
    #[cfg(feature = "cube")]
    return cube::launches::count();
    #[cfg(not(feature = "cube"))]
    return 0;
}

/// A constructor of Burn's device handle.
enum Make {
    /// A CPU backend, which is always available.
    Host(fn() -> Device),
    /// A device behind a driver, or the reason why it cannot be used.
    #[cfg_attr(not(feature = "cube"), allow(dead_code))]
    Driver(fn() -> Result<(Device, Adapter), String>),
}

/// Opens a device and runs a small computation, to check that it works.
///
/// [`DeviceChoice::Auto`] takes the first GPU that works, and otherwise the CPU. A software adapter
/// must be selected by name.
///
/// # Errors
/// A device that is not compiled in, or that does not work on this machine.
pub fn open(choice: DeviceChoice) -> Result<OpenDevice> {
    let (name, feature, make) = match choice {
        DeviceChoice::Auto => return first_that_works(),
        DeviceChoice::Cpu => ("cpu", "flex", FLEX),
        DeviceChoice::Ndarray => ("ndarray", "ndarray", NDARRAY),
        DeviceChoice::Cuda => ("cuda", "cuda", CUDA),
        DeviceChoice::Rocm => ("rocm", "rocm", ROCM),
        DeviceChoice::Metal => ("metal", "metal", METAL),
        DeviceChoice::Vulkan => ("vulkan", "vulkan", VULKAN),
        DeviceChoice::Wgpu => ("wgpu", "wgpu", WGPU),
        DeviceChoice::CubeCpu => ("cube-cpu", "cube-cpu", CUBE_CPU),
        DeviceChoice::Remote(address) => return open_remote(address),
    };
    match make {
        None => Err(DeviceError::NotCompiled { name, feature }.into()),
        Some(make) => probe(name, make),
    }
}

/// Whether this build includes a GPU backend for [`DeviceChoice::Auto`] to try.
pub fn auto_has_a_choice() -> bool {
    [CUDA, ROCM, METAL, VULKAN, WGPU].iter().any(Option::is_some)
}

#[cfg(feature = "remote")]
fn open_remote(address: RemoteAddress) -> Result<OpenDevice> {
    let failed = |reason| DeviceError::Unreachable { address: address.host.clone(), reason };
    compute("remote", || remote::open(&address)).map_err(|reason| failed(reason).into())
}

#[cfg(not(feature = "remote"))]
fn open_remote(_: RemoteAddress) -> Result<OpenDevice> {
    Err(DeviceError::NotCompiled { name: "remote", feature: "remote" }.into())
}

fn first_that_works() -> Result<OpenDevice> {
    use DeviceChoice::{Cpu, Cuda, Metal, Ndarray, Rocm, Vulkan, Wgpu};
    let gpus = [Cuda, Rocm, Metal, Vulkan, Wgpu].into_iter();
    let gpus = gpus.filter_map(|choice| open(choice).ok());
    if let Some(gpu) = gpus.into_iter().find(OpenDevice::is_gpu) {
        return Ok(gpu);
    }
    open(Cpu).or_else(|error| open(Ndarray).map_err(|_| error))
}

fn probe(name: &'static str, make: Make) -> Result<OpenDevice> {
    let open = || match make {
        Make::Host(make) => Ok((make(), None)),
        Make::Driver(make) => make().map(|(device, adapter)| (device, Some(adapter))),
    };
    compute(name, open).map_err(|reason| Error::Device(DeviceError::Missing { name, reason }))
}

/// Opens a device and runs a small computation. A broken driver may make Burn panic on first use: the
/// panic becomes the reason, after its message is printed.
fn compute(
    name: &'static str,
    open: impl FnOnce() -> Result<(Device, Option<Adapter>), String>,
) -> Result<OpenDevice, String> {
    let compute = || {
        let (device, adapter) = open()?;
        // On CUDA, `exp` is compiled with a file of the toolkit, which may be missing.
        let sum = (Tensor::<1>::ones([2], &device) * 2.0).exp().sum();
        sum.try_into_vec_as::<f32>().map_err(|error| error.to_string())?;
        #[cfg(feature = "cube")]
        if has_cubes(&device) {
            cube::launches::start();
        }
        Ok(OpenDevice { name, device, adapter, batch_invariant: false })
    };
    catch_unwind(AssertUnwindSafe(compute))
        .unwrap_or_else(|panic| Err(panics::message(panic.as_ref())))
}

/// How each device is opened: none where its feature is not compiled in.
macro_rules! makes {
    ($($(#[$attribute:meta])* $name:ident if $condition:meta => $make:expr;)+) => {$(
        #[cfg($condition)]
        $(#[$attribute])*
        const $name: Option<Make> = Some($make);
        #[cfg(not($condition))]
        const $name: Option<Make> = None;
    )+};
}

makes! {
    FLEX if feature = "flex" => Make::Host(Device::flex);
    #[allow(deprecated)] // upstream prefers flex; some results are compared on both
    NDARRAY if feature = "ndarray" => Make::Host(Device::ndarray);
    CUDA if feature = "cuda" => Make::Driver(cards::cuda);
    ROCM if feature = "rocm" => Make::Driver(cards::rocm);
    METAL if all(feature = "metal", not(target_family = "wasm")) => Make::Driver(wgpu::metal);
    VULKAN if all(feature = "vulkan", not(target_family = "wasm")) => Make::Driver(wgpu::vulkan);
    WGPU if all(feature = "wgpu", not(target_family = "wasm")) => Make::Driver(wgpu::open);
    CUBE_CPU if feature = "cube-cpu" => Make::Driver(cube_cpu::open);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_device(name: &str, is_gpu: bool) -> OpenDevice {
        let adapter = Some(Adapter { name: name.to_owned(), is_gpu });
        let (device, batch_invariant) = (Device::default(), false);
        OpenDevice { name: "wgpu", device, adapter, batch_invariant }
    }

    #[test]
    fn a_device_is_named_with_what_computes() {
        assert_eq!(open_device("llvmpipe", false).to_string(), "wgpu (llvmpipe)");
        #[cfg(feature = "flex")]
        assert_eq!(open(DeviceChoice::Cpu).unwrap().to_string(), "cpu");
    }

    #[test]
    fn software_is_no_gpu() {
        assert!(open_device("NVIDIA H200", true).is_gpu());
        assert!(!open_device("llvmpipe", false).is_gpu());
    }

    /// On any machine, with any features, `auto` takes a GPU or a device without a driver.
    #[test]
    fn auto_takes_a_gpu_or_the_cpu() {
        let found = open(DeviceChoice::Auto).unwrap();
        assert!(found.is_gpu() || found.adapter.is_none(), "{found}");
        assert!(found.is_gpu() || computes_on_host(&found.device), "{found}");
    }

    #[test]
    fn a_driver_that_fails_or_panics_is_missing() {
        let fails = Make::Driver(|| Err("there is none".to_owned()));
        let panics = Make::Driver(|| panic!("there is none"));
        for make in [fails, panics] {
            let error = probe("wgpu", make).unwrap_err().to_string();
            assert!(error.contains("`wgpu`") && error.contains("there is none"), "{error}");
        }
    }
}
