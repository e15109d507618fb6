//! The flags that say which model, and where it is computed.

use std::path::PathBuf;

use clap::Args;

use crate::device::{self, DeviceChoice, OpenDevice, Precision};
use crate::error::Result;
use crate::pretrained::Pretrained;

/// The flags that say which model, and where it is computed.
#[derive(Debug, Clone, Args)]
pub struct ModelArgs {
    /// A model folder as Hugging Face publishes it [default: the model inside this program]
    #[arg(long = "model", value_name = "DIR")]
    pub folder: Option<PathBuf>,

    /// Where to compute
    #[arg(long, value_enum, default_value_t = DeviceChoice::Auto)]
    pub device: DeviceChoice,

    /// What to compute in, whatever type the files hold
    #[arg(long, value_enum, default_value_t = Precision::F32)]
    pub dtype: Precision,
}

impl ModelArgs {
    /// The model that was asked for, on the device that was asked for.
    ///
    /// # Errors
    /// A device that cannot be used, a model that cannot be loaded.
    pub fn load(&self) -> Result<(Pretrained, OpenDevice)> {
        let device = device::open(self.device)?;
        let pretrained = match &self.folder {
            None => Pretrained::bundled(&device, self.dtype)?,
            Some(folder) => Pretrained::load(folder, &device, self.dtype)?,
        };
        warn_of_unused(&pretrained.unused);
        Ok((pretrained, device))
    }
}

/// One line on standard error where a folder holds more than its model uses.
fn warn_of_unused(tensors: &[String]) {
    if let [first, rest @ ..] = tensors {
        let more = match rest.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        eprintln!(
            "warning: this model has no use for tensor {first:?}{more}; is config.json right?"
        );
    }
}
