//! Models from the Hugging Face Hub, kept in the cache that its other programs use too.
//!
//! A model that lies in the cache whole is used as it is, without asking the hub for a newer
//! one. To have the newer one, name its revision.

mod arrival;
mod bounded;
mod download;
mod error;
mod name;
mod patience;
mod snapshot;

use std::path::PathBuf;
use std::time::Duration;

use crate::files;
use download::Download;
pub use error::{Error, Result};
pub use name::HubModel;
use snapshot::Snapshot;

/// A hub, and the cache on this machine.
#[derive(Debug, Clone)]
pub struct Hub {
    /// Its address: `https://huggingface.co`.
    pub endpoint: String,
    /// The folder in which every model has its folder.
    pub cache: PathBuf,
    /// An access token, for models that are not for everyone.
    pub token: Option<String>,
    /// Never ask the hub.
    pub offline: bool,
    /// A hub that sends nothing for this long is taken for out of reach.
    pub patience: Duration,
}

/// How many bytes a file may have that holds an access token or the name of a commit.
const MOST_OF_A_NAME: usize = 1 << 16;

/// Where nothing says otherwise.
const PATIENCE: Duration = Duration::from_secs(20);

impl Hub {
    /// The hub that the environment describes, as for other programs: `HF_ENDPOINT`,
    /// `HF_HUB_CACHE`, `HF_HOME`, `HF_TOKEN`, `HF_HUB_OFFLINE` and `HF_HUB_DOWNLOAD_TIMEOUT`.
    ///
    /// # Errors
    /// No place for the cache: neither a variable nor a home folder. A time that is none.
    pub fn from_env() -> Result<Self> {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = match (folder("HF_HOME"), folder("XDG_CACHE_HOME"), std::env::home_dir()) {
            (Some(home), ..) => Some(PathBuf::from(home)),
            (_, Some(caches), _) => Some(PathBuf::from(caches).join("huggingface")),
            (.., user) => user.map(|user| user.join(".cache/huggingface")),
        };
        let cache = folder("HF_HUB_CACHE").map(PathBuf::from);
        let cache = cache.or(home.as_ref().map(|home| home.join("hub")));
        let cache = cache.ok_or_else(|| Error::Variable {
            name: "HF_HOME",
            value: "not set".to_owned(),
            allowed: "a folder for models, as this user has no home folder",
        })?;
        let saved = || {
            let token = files::read(&home?.join("token"), MOST_OF_A_NAME).ok()??;
            let token = String::from_utf8(token).ok()?;
            Some(token.trim().to_owned()).filter(|token| !token.is_empty())
        };
        let patience = match set("HF_HUB_DOWNLOAD_TIMEOUT") {
            None => PATIENCE,
            Some(seconds) => read_seconds(&seconds).ok_or(Error::Variable {
                name: "HF_HUB_DOWNLOAD_TIMEOUT",
                value: format!("{seconds:?}"),
                allowed: "a number of seconds above 0",
            })?,
        };
        let offline = set("HF_HUB_OFFLINE").unwrap_or_default().to_lowercase();
        Ok(Self {
            endpoint: set("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned()),
            cache,
            token: set("HF_TOKEN").or_else(saved),
            offline: ["1", "on", "yes", "true"].contains(&offline.as_str()),
            patience,
        })
    }

    /// The folder of a model, after downloading what is missing. What was begun is gone on
    /// with. Where the hub knows the SHA-256 of a file, as it does of weights, what came is
    /// checked against it. A progress bar is shown where standard error is a terminal.
    ///
    /// # Errors
    /// A hub that cannot be reached, a model that does not exist or is not for everyone, a
    /// download that broke off, stalled or came damaged, a cache that cannot be written.
    pub fn fetch(&self, model: &HubModel) -> Result<PathBuf> {
        let cached = Snapshot::in_cache(&self.cache, model);
        if let Some(snapshot) = &cached
            && snapshot.is_whole()
        {
            return Ok(snapshot.folder());
        }
        let downloaded = Download::start(self, model).and_then(|download| download.run());
        match (downloaded, cached) {
            // Files that may not even exist are missing: better than nothing.
            (Err(Error::Offline { .. }), Some(snapshot)) if snapshot.can_be_loaded() => {
                Ok(snapshot.folder())
            }
            (downloaded, _) => downloaded,
        }
    }
}

fn read_seconds(text: &str) -> Option<Duration> {
    let time = Duration::try_from_secs_f64(text.parse().ok()?).ok()?;
    (time > Duration::ZERO).then_some(time)
}
