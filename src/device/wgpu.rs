//! wgpu: any GPU, through a graphics API of the system.

use std::sync::{Mutex, PoisonError};

use burn::tensor::Device;
use burn::tensor::wgpu::WgpuBackend;
use burn::tensor::wgpu::wgpu::DeviceType;

use super::Adapter;

type Opened = Result<(Device, Adapter), String>;

/// The graphics API that the system has for compute. On Linux, Burn would fall back to OpenGL where
/// Vulkan has no GPU: its drivers look for a display, and OpenGL is not made for compute.
const OF_THE_SYSTEM: WgpuBackend = if cfg!(target_os = "linux") {
    WgpuBackend::Vulkan
} else {
    WgpuBackend::Auto
};

pub(super) fn open() -> Opened {
    open_on(OF_THE_SYSTEM)
}

#[cfg(feature = "vulkan")]
pub(super) fn vulkan() -> Opened {
    open_on(WgpuBackend::Vulkan)
}

#[cfg(feature = "metal")]
pub(super) fn metal() -> Opened {
    open_on(WgpuBackend::Metal)
}

/// Opens the most capable adapter of an API. A process can do so only once for each API, so the results
/// are kept.
fn open_on(api: WgpuBackend) -> Opened {
    static OPENED: Mutex<Vec<(WgpuBackend, Opened)>> = Mutex::new(Vec::new());
    // A driver may panic; what is kept then is whole all the same.
    let mut kept = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, opened)) = kept.iter().find(|(other, _)| *other == api) {
        return opened.clone();
    }
    let opened = first_on(api);
    kept.push((api, opened.clone()));
    opened
}

fn first_on(api: WgpuBackend) -> Opened {
    let opened = Device::wgpu_options().graphics_api(api).init_with_setup();
    let (device, setup) = opened.map_err(|error| error.to_string())?;
    let info = setup.adapter.get_info();
    let is_gpu = matches!(
        info.device_type,
        DeviceType::DiscreteGpu | DeviceType::IntegratedGpu | DeviceType::VirtualGpu
    );
    Ok((device, Adapter { name: info.name, is_gpu }))
}
