//! CUDA and ROCm: the first GPU of their maker.

use burn::tensor::{Device, DeviceType};

use super::Adapter;

#[cfg(feature = "cuda")]
pub(super) fn cuda() -> Result<(Device, Adapter), String> {
    first(DeviceType::Cuda, "NVIDIA")
}

#[cfg(feature = "rocm")]
pub(super) fn rocm() -> Result<(Device, Adapter), String> {
    first(DeviceType::Rocm, "AMD")
}

/// Opens the first GPU. Burn panics on opening a GPU that does not exist, so the GPUs are
/// enumerated first.
fn first(of: DeviceType, maker: &str) -> Result<(Device, Adapter), String> {
    let device = Device::enumerate(of).into_vec().into_iter().next();
    let device = device.ok_or_else(|| format!("no {maker} driver or no {maker} GPU was found"))?;
    let name = device.identity().map_or_else(|| maker.to_owned(), |identity| identity.name);
    Ok((device, Adapter { name, is_gpu: true }))
}
