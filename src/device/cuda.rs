//! CUDA: the first of the NVIDIA GPUs.

use burn::tensor::{Device, DeviceType};

use super::Adapter;

/// Opens the first GPU. Burn panics on opening a GPU that does not exist, so the GPUs are
/// enumerated first.
pub(super) fn open() -> Result<(Device, Adapter), String> {
    let device = Device::enumerate(DeviceType::Cuda).into_vec().into_iter().next();
    let device = device.ok_or("no NVIDIA driver or no NVIDIA GPU was found")?;
    let name = device.identity().map_or_else(|| "NVIDIA".to_owned(), |identity| identity.name);
    Ok((device, Adapter { name, is_gpu: true }))
}
