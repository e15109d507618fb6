//! CUDA: the first of the NVIDIA GPUs.

use burn::tensor::{Device, DeviceType};

use super::Adapter;

/// Opens the first GPU. To open one that is not there is a panic in Burn, so it is asked which
/// ones there are.
pub(super) fn open() -> Result<(Device, Adapter), String> {
    let device = Device::enumerate(DeviceType::Cuda).into_vec().into_iter().next();
    let device = device.ok_or("no NVIDIA driver or no NVIDIA GPU was found")?;
    let name = device.identity().map_or_else(|| "NVIDIA".to_owned(), |identity| identity.name);
    Ok((device, Adapter { name, is_gpu: true }))
}
