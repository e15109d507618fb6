//! The kernels for GPUs on the CPU, compiled by LLVM.

use burn::tensor::Device;

use super::Adapter;

pub(super) fn open() -> Result<(Device, Adapter), String> {
    let device = Device::cpu();
    let name = device.identity().map_or_else(|| "LLVM".to_owned(), |identity| identity.name);
    Ok((device, Adapter { name, is_gpu: false }))
}
