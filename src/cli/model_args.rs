//! The flags that say which model, and where it is computed.

use clap::Args;

use super::ModelSource;
use crate::device::{self, DeviceChoice, OpenDevice, Precision};
use crate::error::Result;
use crate::pretrained::Pretrained;

/// The flags that say which model, and where it is computed.
#[derive(Debug, Clone, Args)]
pub struct ModelArgs {
    /// A folder as Hugging Face publishes it, or a model on its hub: hf:org/name, or
    /// hf:org/name@revision [default: the model inside this program]
    #[arg(long = "model", value_name = "MODEL")]
    pub source: Option<ModelSource>,

    /// Where to compute
    #[arg(long, value_enum, default_value_t = DeviceChoice::Auto)]
    pub device: DeviceChoice,

    /// What to compute in, whatever type the files hold
    ///
    /// f32 is the default for files in f16 and bf16 too: it holds each of their numbers exactly, and
    /// a CPU multiplies it fastest. The others take half the memory.
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
        let pretrained = match &self.source {
            None => Pretrained::bundled(&device, self.dtype)?,
            Some(source) => source.load(&device, self.dtype)?,
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
