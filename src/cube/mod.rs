//! Kernels for GPUs, in the language of `cubecl`: one source for CUDA, ROCm, Metal, Vulkan, WebGPU and a
//! runtime on the CPU.
//!
//! Burn's operations define what the network computes. A kernel stands here where Burn has none, such as
//! attention over [blocks], or where one launch does the work of several. Each file has kernels, and the
//! functions on tensors that launch them, which the network calls. They are for the devices of
//! [`has_cubes`](crate::device::has_cubes) only: on another one they panic.
//!
//! A kernel is compiled when it is first launched, once for each value of its `comptime` parameters. It
//! runs in *cubes* (CUDA says thread blocks, WebGPU workgroups) of *units* (threads). The order of the
//! additions of a sum depends neither on how many units a cube has nor on what else is computed in the
//! same launch, so the bits of a result do not either.

// A kernel takes each buffer and each size as an argument, and a `match` that is decided when it is
// compiled must be bound to a name.
#![allow(clippy::too_many_arguments, clippy::let_and_return)]

pub(crate) mod argmax;
pub(crate) mod attention;
pub(crate) mod blocks;
pub(crate) mod gate;
pub(crate) mod launches;
pub(crate) mod linear;
pub(crate) mod norm;
mod packing;
pub(crate) mod recording;
mod reduce;
pub(crate) mod rope;
mod tensor_cores;
#[cfg(test)]
mod tests;

use burn::backend::cubecl::dtype_to_storage_type;
use burn::backend::{DispatchDevice, TensorMetadata};
use burn::tensor::kind::Basic;
use burn::tensor::{BackendPrimitive, DType, Device, Shape, Tensor};
use burn_cubecl::CubeBackend;
use burn_cubecl::cubecl::calculate_cube_count_elemwise;
use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::ir::{AddressType, ElemType};
use burn_cubecl::cubecl::prelude::{CubeCount, CubeDim};
use burn_cubecl::ops::numeric::empty_device_contiguous_dtype;
use burn_cubecl::tensor::CubeTensor;

/// The queue of launches of a device, where it has one.
fn client(device: &Device) -> Option<Client> {
    match device.as_dispatch() {
        DispatchDevice::Cube(device) => Some(device.client()),
        #[allow(unreachable_patterns, reason = "where no other backend is compiled in")]
        _ => None,
    }
}

/// A tensor of the network, as a launch takes it.
fn into_cube<const D: usize, K>(tensor: Tensor<D, K>) -> CubeTensor
where
    K: Basic + BackendPrimitive<CubeBackend, Primitive = CubeTensor>,
{
    match tensor.try_into_primitive::<CubeBackend>() {
        Ok(tensor) => tensor,
        Err(error) => unreachable!("the tensor of a kernel is elsewhere: {error:?}"),
    }
}

/// What a launch has written, as the network takes it.
fn from_cube<const D: usize, K>(tensor: CubeTensor) -> Tensor<D, K>
where
    K: Basic + BackendPrimitive<CubeBackend, Primitive = CubeTensor>,
{
    Tensor::from_primitive::<CubeBackend>(tensor)
}

/// The shape of a launch with one unit for each of `units` numbers.
fn one_unit_each(tensor: &CubeTensor, units: usize) -> (CubeCount, CubeDim) {
    let dim = CubeDim::new(&tensor.client, units);
    (calculate_cube_count_elemwise(&tensor.client, units, dim), dim)
}

/// The type of the numbers of a tensor.
fn element(tensor: &CubeTensor) -> ElemType {
    dtype_to_storage_type(tensor.dtype)
}

/// The width of the indices that reach every number of all of `tensors`.
fn address_type<'a>(tensors: impl IntoIterator<Item = &'a CubeTensor>) -> AddressType {
    tensors.into_iter().map(CubeTensor::required_address_type).max().unwrap_or_default()
}

/// A tensor for as many numbers of the same type, in the same shape, with one row after the other.
fn empty_like(tensor: &CubeTensor) -> CubeTensor {
    empty(tensor, tensor.shape(), tensor.dtype)
}

/// A tensor for numbers of this shape and type, on the device of `beside`, with one row after the other.
fn empty(beside: &CubeTensor, shape: impl Into<Shape>, dtype: DType) -> CubeTensor {
    let (client, device) = (beside.client.clone(), beside.device.clone());
    empty_device_contiguous_dtype(client, device, shape.into(), dtype)
}

/// What a device can hold, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceMemory {
    /// One tensor.
    pub(crate) largest: u128,
    /// All of them, where the driver says so.
    all: Option<u128>,
    /// What is in use.
    used: u128,
}

impl DeviceMemory {
    /// What may be left. Where the driver does not say, that is taken for one tensor's worth.
    pub(crate) fn left(self) -> u128 {
        self.all.map_or(self.largest, |all| all.saturating_sub(self.used))
    }

    /// Whether tensors may fit, the largest of which takes so many bytes, as far as the driver says.
    pub(crate) fn holds(self, largest: u128, bytes: u128) -> bool {
        largest <= self.largest && self.all.is_none_or(|all| bytes <= all)
    }
}

/// What the driver says of the memory of a device.
pub(crate) fn memory_of(device: &Device) -> DeviceMemory {
    let used = device.memory_pool_usage().map_or(0, |usage| u128::from(usage.bytes_in_use));
    let Some(client) = client(device) else {
        return DeviceMemory { largest: u128::MAX, all: None, used };
    };
    let memory = &client.properties().memory;
    let all = memory.max_memory().map(u128::from);
    DeviceMemory { largest: memory.max_page_size.into(), all, used }
}

/// The devices that tests of kernels run on: those that this build has and this machine can open.
#[cfg(test)]
pub(crate) fn devices() -> Vec<Device> {
    let mut devices = Vec::new();
    #[cfg(feature = "wgpu")]
    match crate::device::open(crate::device::DeviceChoice::Wgpu) {
        Ok(open) => devices.push(open.device),
        Err(error) => eprintln!("not tested on wgpu: {error}"),
    }
    #[cfg(feature = "cube-cpu")]
    devices.push(Device::cpu());
    devices
}
