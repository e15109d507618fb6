//! Kernels for GPUs, in the language of `cubecl`: one source for CUDA, ROCm, Metal, Vulkan, WebGPU and a
//! runtime on the CPU.
pub(crate) mod argmax;
pub(crate) mod gate;
pub(crate) mod launches;
pub(crate) mod norm;
mod reduce;
pub(crate) mod rope;

use burn::backend::cubecl::dtype_to_storage_type;
use burn::tensor::{DType, Shape};
use burn_cubecl::cubecl::calculate_cube_count_elemwise;
use burn_cubecl::cubecl::ir::{AddressType, ElemType};
use burn_cubecl::cubecl::prelude::{CubeCount, CubeDim};
use burn_cubecl::ops::numeric::empty_device_dtype;
use burn_cubecl::tensor::CubeTensor;

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

/// Memory for a tensor of this shape and type, beside `tensor`, with any numbers.
fn empty(tensor: &CubeTensor, shape: impl Into<Shape>, dtype: DType) -> CubeTensor {
    let (client, device) = (tensor.client.clone(), tensor.device.clone());
    empty_device_dtype(client, device, shape.into(), dtype)
}

/// As [`empty`], of the shape and the type of `tensor`.
fn empty_like(tensor: &CubeTensor) -> CubeTensor {
    empty(tensor, tensor.meta.shape().clone(), tensor.dtype)
}

/// The devices that tests of kernels run on: those that this build has and this machine can open.
#[cfg(test)]
pub(crate) fn devices() -> Vec<burn::tensor::Device> {
    let mut devices = Vec::new();
    #[cfg(feature = "wgpu")]
    match crate::device::open(crate::device::DeviceChoice::Wgpu) {
        Ok(open) => devices.push(open.device),
        Err(error) => eprintln!("not tested on wgpu: {error}"),
    }
    #[cfg(feature = "cube-cpu")]
    devices.push(burn::tensor::Device::cpu());
    devices
}
