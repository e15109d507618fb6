//! The model named by `--model`.

use std::ffi::OsString;
use std::path::PathBuf;

use slowburn::device::{OpenDevice, Precision};
use slowburn::pretrained::Pretrained;
use slowburn::storage::Storage;

use crate::{Dtype, Result};

/// The prefix of a model on the hub.
const HUB_PREFIX: &str = "hf:";

/// A model inside the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bundled {
    /// Tells stories.
    Ember,
    /// Holds conversations.
    Spark,
}

impl Bundled {
    const ALL: [Self; 2] = [Self::Ember, Self::Spark];

    /// What `--model` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ember => "ember",
            Self::Spark => "spark",
        }
    }
}

/// A model inside the library, a folder or a file, or a model on the Hugging Face Hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// By its name alone: a folder of that name is `./ember`.
    Bundled(Bundled),
    /// A folder in Hugging Face's layout, or a GGUF file.
    Path(PathBuf),
    /// `org/name`, `org/name:FORMAT` or `org/name/file.gguf`, with `@revision` or without, but without the
    /// prefix `hf:`.
    Hub(String),
}

impl From<OsString> for ModelSource {
    fn from(text: OsString) -> Self {
        if let Some(bundled) = Bundled::ALL.into_iter().find(|bundled| text == bundled.name()) {
            return ModelSource::Bundled(bundled);
        }
        match text.to_str().and_then(|text| text.strip_prefix(HUB_PREFIX)) {
            Some(name) => ModelSource::Hub(name.to_owned()),
            None => ModelSource::Path(text.into()),
        }
    }
}

impl ModelSource {
    /// Loads the model, downloading it first if it is not in the cache. `storage` says how weights are
    /// stored whose format is as `dtype` says.
    ///
    /// # Errors
    /// A model that cannot be downloaded or loaded; a model on the hub without the feature `hub`.
    pub fn load(
        &self,
        device: &OpenDevice,
        dtype: Dtype,
        storage: impl FnOnce(Precision) -> Storage,
    ) -> Result<Pretrained> {
        let fetched;
        let path = match self {
            ModelSource::Bundled(bundled) => {
                let storage = storage(match dtype {
                    Dtype::Auto => Precision::F32,
                    Dtype::Of(precision) => precision,
                });
                return Ok(match bundled {
                    Bundled::Ember => Pretrained::bundled(device, storage)?,
                    Bundled::Spark => Pretrained::bundled_chat(device, storage)?,
                });
            }
            ModelSource::Path(path) => path,
            ModelSource::Hub(name) => {
                fetched = fetch(name, device)?;
                &fetched
            }
        };
        let precision = match dtype {
            Dtype::Of(precision) => precision,
            // What is wrong with files that cannot be read is what loading says.
            Dtype::Auto => match Pretrained::precision_of(path) {
                Ok(of_files) if device.supports(of_files) => of_files,
                _ => Precision::F32,
            },
        };
        Ok(Pretrained::load(path, device, storage(precision))?)
    }
}

#[cfg(feature = "hub")]
fn fetch(name: &str, device: &OpenDevice) -> Result<PathBuf> {
    let name = name.parse().map_err(slowburn::hub::Error::from)?;
    // Other devices have memory of their own.
    let into_memory = device.adapter.is_none();
    let hub = slowburn::hub::Hub { into_memory, ..slowburn::hub::Hub::from_env()? };
    Ok(hub.fetch(&name)?)
}

#[cfg(not(feature = "hub"))]
fn fetch(name: &str, _: &OpenDevice) -> Result<PathBuf> {
    Err(crate::Error::HubNotCompiled { name: name.to_owned() })
}
