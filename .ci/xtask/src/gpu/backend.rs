//! Which of the backends for GPUs is measured.

use std::path::Path;

use clap::ValueEnum;
use slowburn::device::DeviceChoice;

/// A backend for GPUs. Its name in the flag is that of the device and of the feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    Cuda,
    Rocm,
    Metal,
    Vulkan,
    Wgpu,
    /// The CPU, compiled by LLVM: to see that all works
    CubeCpu,
}

impl Backend {
    /// What this system most likely has.
    pub fn of_this_system() -> Self {
        if cfg!(target_os = "macos") {
            Self::Metal
        } else if Path::new("/dev/nvidiactl").exists() {
            Self::Cuda
        } else if Path::new("/dev/kfd").exists() {
            Self::Rocm
        } else {
            Self::Wgpu
        }
    }

    pub fn choice(self) -> DeviceChoice {
        match self {
            Self::Cuda => DeviceChoice::Cuda,
            Self::Rocm => DeviceChoice::Rocm,
            Self::Metal => DeviceChoice::Metal,
            Self::Vulkan => DeviceChoice::Vulkan,
            Self::Wgpu => DeviceChoice::Wgpu,
            Self::CubeCpu => DeviceChoice::CubeCpu,
        }
    }

    /// Whether this program was built with it.
    pub fn is_compiled_in(self) -> bool {
        match self {
            Self::Cuda => cfg!(feature = "cuda"),
            Self::Rocm => cfg!(feature = "rocm"),
            Self::Metal => cfg!(feature = "metal"),
            Self::Vulkan => cfg!(feature = "vulkan"),
            Self::Wgpu => cfg!(feature = "wgpu"),
            Self::CubeCpu => cfg!(feature = "cube-cpu"),
        }
    }
}
