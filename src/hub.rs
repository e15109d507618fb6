//! Models from the Hugging Face Hub, in the cache that you share with Hugging Face's own tools.
//!
//! Once a model is complete in the cache, it is used without asking the hub. So if you want a newer version,
//! name its revision.

mod arrival;
mod bounded;
mod cached;
mod choose;
mod download;
mod error;
mod name;
mod patience;
mod snapshot;

use std::path::PathBuf;
use std::time::Duration;

use crate::files;
pub use cached::CachedModel;
use download::Download;
pub use error::{Error, Result};
pub use name::HubModel;
use snapshot::Snapshot;

/// A hub and the local cache.
#[derive(Debug, Clone)]
pub struct Hub {
    /// The address, such as `https://huggingface.co`.
    pub endpoint: String,
    /// The folder of the cache, with a folder for each model.
    pub cache: PathBuf,
    /// An access token, for gated and private models.
    pub token: Option<String>,
    /// Use the cache only.
    pub offline: bool,
    /// Refuse models whose weights are more than this machine has memory for, before they are downloaded.
    pub into_memory: bool,
    /// The timeout without new data, after which the hub counts as unreachable.
    pub patience: Duration,
}

/// The size limit in bytes of a file with an access token or a commit hash.
const MOST_OF_A_NAME: usize = 1 << 16;

/// The default timeout.
const PATIENCE: Duration = Duration::from_secs(20);

impl Hub {
    /// Reads the environment variables of Hugging Face's tools: `HF_ENDPOINT`, `HF_HUB_CACHE`,
    /// `HF_HOME`, `HF_TOKEN`, `HF_HUB_OFFLINE` and `HF_HUB_DOWNLOAD_TIMEOUT`.
    ///
    /// # Errors
    /// No folder for the cache: neither a variable nor a home folder; an invalid timeout.
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
            token_in(&String::from_utf8(token).ok()?)
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
            token: set("HF_TOKEN").and_then(|text| token_in(&text)).or_else(saved),
            into_memory: false,
            offline: ["1", "on", "yes", "true"].contains(&offline.as_str()),
            patience,
        })
    }

    /// Downloads the missing files of a model and returns its folder, or the path of its GGUF file. Of a file
    /// whose name says that it is one of several, all are downloaded. A model that this crate cannot load, or
    /// one that does not fit into memory, is refused before its weights are downloaded. Partial downloads are
    /// resumed. If the hub provides the SHA-256 of a file, as it does for
    /// weights, the download is verified. Shows a progress bar if standard error is a terminal.
    ///
    /// # Errors
    /// An unreachable hub; an unknown, gated or private model, or an unknown file; one that cannot be loaded; an
    /// interrupted, stalled or corrupted download; a cache that cannot be written.
    pub fn fetch(&self, model: &HubModel) -> Result<PathBuf> {
        let snapshot = Snapshot::in_cache(&self.cache, model);
        // In a cache, the best of the files may be missing.
        let cached = snapshot.as_ref().and_then(|snapshot| snapshot.choose(model));
        let is_certain = |found: &HubModel| {
            found.file.is_none() || model.file.is_some() || model.format.is_some()
        };
        if let (Some(snapshot), Some(found)) = (&snapshot, &cached)
            && is_certain(found)
            && snapshot.is_whole(found)
        {
            return Ok(snapshot.path(found));
        }
        let downloaded = Download::start(self, model).and_then(|download| download.run());
        match (downloaded, snapshot, cached) {
            // Only optional files are missing, which may not exist on the hub either.
            (Err(Error::Offline { .. }), Some(snapshot), Some(found))
                if snapshot.can_be_loaded(&found) =>
            {
                Ok(snapshot.path(&found))
            }
            (downloaded, ..) => downloaded,
        }
    }
}

/// The token in a text: that of a file ends with a line break.
fn token_in(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|token| !token.is_empty())
}

fn read_seconds(text: &str) -> Option<Duration> {
    let time = Duration::try_from_secs_f64(text.parse().ok()?).ok()?;
    (time > Duration::ZERO).then_some(time)
}
