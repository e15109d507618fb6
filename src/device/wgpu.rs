//! wgpu: any GPU, through the graphics API of the system.

use std::sync::OnceLock;

use burn::tensor::Device;
use burn::tensor::wgpu::WgpuBackend;
use burn::tensor::wgpu::wgpu::DeviceType;

use super::Adapter;

/// The graphics API. On Linux, Burn would fall back to OpenGL where Vulkan has no GPU: its drivers
/// look for a display, and OpenGL is not made for compute.
const API: WgpuBackend = if cfg!(target_os = "linux") {
    WgpuBackend::Vulkan
} else {
    WgpuBackend::Auto
};

/// Opens the most capable adapter. A process can do so only once, so the result is kept.
pub(super) fn open() -> Result<(Device, Adapter), String> {
    static OPENED: OnceLock<Result<(Device, Adapter), String>> = OnceLock::new();
    let open = || {
        let opened = Device::wgpu_options().graphics_api(API).init_with_setup();
        let (device, setup) = opened.map_err(|error| error.to_string())?;
        let info = setup.adapter.get_info();
        let is_gpu = matches!(
            info.device_type,
            DeviceType::DiscreteGpu | DeviceType::IntegratedGpu | DeviceType::VirtualGpu
        );
        Ok((device, Adapter { name: info.name, is_gpu }))
    };
    OPENED.get_or_init(open).clone()
}
