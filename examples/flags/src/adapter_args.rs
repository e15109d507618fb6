//! The flags of adapters.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use slowburn::pretrained::Pretrained;

use crate::Result;

/// The adapters of a model, each with a name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Adapters")]
pub struct AdapterArgs {
    /// An adapter for the model (LoRA), from a folder as PEFT writes it: pirate=DIR. Several may be
    /// given, separated by commas or with the flag again. On the CPU only
    #[arg(long, value_name = "NAME=DIR", value_delimiter = ',')]
    pub lora: Vec<NamedFolder>,
}

/// The adapters, and which of them a program uses that has one text at a time.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Adapters")]
pub struct AdapterChoice {
    #[command(flatten)]
    pub adapters: AdapterArgs,

    /// The adapter to use [default: the first of --lora]
    #[arg(long, requires = "lora", value_name = "NAME")]
    pub adapter: Option<String>,
}

/// The folder of an adapter, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFolder {
    pub name: String,
    pub folder: PathBuf,
}

impl FromStr for NamedFolder {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, folder)) if !name.is_empty() && !folder.is_empty() => {
                Ok(Self { name: name.to_owned(), folder: folder.into() })
            }
            _ => Err("a name and a folder are needed, such as pirate=adapters/pirate".to_owned()),
        }
    }
}

impl AdapterArgs {
    /// Reads the adapters, and puts them where requests find them.
    ///
    /// # Errors
    /// A folder that is no adapter of this model.
    pub fn load(&self, pretrained: &Pretrained) -> Result<()> {
        for NamedFolder { name, folder } in &self.lora {
            pretrained.adapters.insert(name, pretrained.read_adapter(folder)?);
        }
        Ok(())
    }
}

impl AdapterChoice {
    /// Reads the adapters, and returns the name of the one to use, if there is one.
    ///
    /// # Errors
    /// A folder that is no adapter of this model; a name that none has.
    pub fn load(&self, pretrained: &Pretrained) -> Result<Option<String>> {
        self.adapters.load(pretrained)?;
        let first = || self.adapters.lora.first().map(|first| first.name.clone());
        let name = self.adapter.clone().or_else(first);
        if let Some(name) = &name {
            pretrained.adapters.get(name)?;
        }
        Ok(name)
    }
}
