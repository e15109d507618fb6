//! Downloads one model from the hub into the cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hf_hub::api::sync::{ApiBuilder, ApiError, ApiRepo, Metadata};
use hf_hub::{Cache, Repo, RepoType};
use serde::Deserialize;

use super::arrival::{Arrival, check};
use super::bounded::upto;
use super::choose::{choose, formats};
use super::error::{Error, Result};
use super::snapshot::{OPTIONAL, REQUIRED, Snapshot};
use super::{Hub, HubModel, patience};
use crate::checkpoint::folder;
use crate::checkpoint::gguf::check_architecture;
use crate::checkpoint::shards::{INDEX, WHOLE};
use crate::memory;
use crate::model::ModelConfig;

/// The maximum number of consecutive interruptions without new data.
const MAX_FAILURES: u32 = 5;
/// The wait after the first interruption, doubled after each further one.
const FIRST_WAIT: Duration = Duration::from_millis(200);

/// The hub's description of a revision: its commit and its files.
#[derive(Deserialize)]
struct Listing {
    sha: String,
    siblings: Vec<Sibling>,
    safetensors: Option<Parameters>,
    gguf: Option<Gguf>,
}

/// What the hub has read in the header of a GGUF file.
#[derive(Deserialize)]
struct Gguf {
    architecture: Option<String>,
}

/// How many numbers the safetensors files hold.
#[derive(Deserialize)]
struct Parameters {
    total: u64,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
}

/// Why a download failed.
enum Failure {
    /// A retry may help.
    Interrupted(String),
    /// A retry does not help.
    Final(Error),
}

/// The download of a model whose files the hub has listed.
pub(super) struct Download<'a> {
    hub: &'a Hub,
    model: HubModel,
    /// With their bytes, where the hub says how many they have.
    files: BTreeMap<String, Option<u64>>,
    parameters: Option<u64>,
    snapshot: Snapshot,
    api: hf_hub::api::sync::Api,
    repo: Repo,
}

impl<'a> Download<'a> {
    /// Requests the list of the model's files, and chooses among them.
    pub(super) fn start(hub: &'a Hub, model: &HubModel) -> Result<Self> {
        let Listing { sha, siblings, safetensors, gguf } = list(hub, model)?;
        let files: BTreeMap<_, _> =
            siblings.into_iter().map(|file| (file.rfilename, file.size)).collect();
        let names = || files.keys().map(String::as_str);
        let model = &choose(model, names()).ok_or_else(|| Error::NoFormat {
            model: model.to_string(),
            format: model.format.clone().unwrap_or_default(),
            formats: formats(names()),
        })?;
        let architecture = gguf.and_then(|gguf| gguf.architecture);
        if let (Some(_), Some(architecture)) = (&model.file, architecture) {
            check_architecture(&architecture, &format!("`{model}`"))?;
        }
        let endpoint = hub.endpoint.trim_end_matches('/').to_owned();
        let api = ApiBuilder::from_cache(Cache::new(hub.cache.clone()))
            .with_endpoint(endpoint)
            .with_token(hub.token.clone())
            .build()
            .map_err(|error| failed(model, "the list of files", error))?;
        // By commit, because the revision may move before all files are downloaded.
        let repo = Repo::with_revision(model.name.clone(), RepoType::Model, sha.clone());
        Ok(Self {
            hub,
            model: model.clone(),
            files,
            parameters: safetensors.map(|parameters| parameters.total),
            snapshot: Snapshot::new(&hub.cache, model, &sha),
            repo,
            api,
        })
    }

    /// Downloads the missing files. The revision is recorded in the cache only when all are
    /// complete.
    pub(super) fn run(&self) -> Result<PathBuf> {
        match &self.model.file {
            Some(_) => {
                let files = self.model.gguf_files();
                self.check_memory(self.bytes_of(&files))?;
                self.fetch_listed(&files)?;
            }
            None => self.fetch_all()?,
        }
        self.enter_revision()
            .map_err(|(path, source)| crate::Error::Load(crate::LoadError::Io { path, source }))?;
        Ok(self.snapshot.path(&self.model))
    }

    /// Downloads files that must be there.
    fn fetch_listed(&self, files: &[String]) -> Result<()> {
        match files.iter().find(|file| !self.files.contains_key(*file)) {
            None => files.iter().try_for_each(|file| self.fetch(file)),
            Some(file) => Err(Error::NoFile {
                model: self.model.to_string(),
                file: file.clone(),
                endpoint: self.hub.endpoint.clone(),
            }),
        }
    }

    /// Downloads the files of a folder, the weights last: the others tell whether they are of use.
    fn fetch_all(&self) -> Result<()> {
        if !self.files.contains_key(WHOLE) && !self.files.contains_key(INDEX) {
            return Err(self.no_weights());
        }
        self.fetch_listed(&REQUIRED.map(str::to_owned))?;
        let config = folder::read(&self.snapshot.folder(), "config.json")?;
        ModelConfig::from_json(
            &config.unwrap_or_default(),
            &format!("config.json of `{}`", self.model),
        )?;
        // In the format of the fewest bits, int4.
        self.check_memory(self.parameters.map(|parameters| parameters / 2))?;
        for file in &OPTIONAL {
            self.fetch_if_listed(file)?;
        }
        let is_template = |file: &&String| {
            let name = file.strip_prefix("additional_chat_templates/");
            name.is_some_and(|name| name.ends_with(".jinja") && !name.contains('/'))
        };
        self.files.keys().filter(is_template).try_for_each(|file| self.fetch(file))?;
        if self.files.contains_key(WHOLE) {
            self.fetch(WHOLE)?;
        } else if self.fetch_if_listed(INDEX)? {
            self.snapshot.shards()?.iter().try_for_each(|shard| self.fetch(shard))?;
        }
        Ok(())
    }

    /// The bytes of files, if the hub says all of them.
    fn bytes_of(&self, files: &[String]) -> Option<u64> {
        files.iter().map(|file| *self.files.get(file)?).sum()
    }

    /// Refuses weights of more bytes than the memory has, where that is asked for.
    fn check_memory(&self, bytes: Option<u64>) -> Result<()> {
        let (Some(bytes), Some(free), true) = (bytes, memory::available(), self.hub.into_memory)
        else {
            return Ok(());
        };
        if bytes <= free {
            return Ok(());
        }
        let names = || self.files.keys().map(String::as_str);
        let fits = |format: &String| {
            let model = HubModel {
                file: None,
                format: Some(format.clone()),
                ..self.model.clone()
            };
            let files = choose(&model, names()).map(|model| model.gguf_files());
            files.and_then(|files| self.bytes_of(&files)).is_some_and(|bytes| bytes <= free)
        };
        Err(Error::TooLarge {
            model: self.model.to_string(),
            bytes,
            free,
            smaller: formats(names()).into_iter().filter(fits).collect(),
        })
    }

    fn no_weights(&self) -> Error {
        let has = |ending: &str| self.files.keys().any(|file| file.ends_with(ending));
        Error::NoWeights {
            model: self.model.to_string(),
            hint: if has("adapter_config.json") {
                "it is an adapter (LoRA), which changes another model: merge the two with PEFT's merge_and_unload, and give the folder"
            } else if has(".bin") || has(".pth") || has(".pt") {
                "its weights are Python's pickles, which can run code when they are read: look for a conversion to safetensors"
            } else {
                "check the name, or look for another repository of the model"
            },
        }
    }

    fn fetch_if_listed(&self, file: &str) -> Result<bool> {
        let listed = self.files.contains_key(file);
        if listed {
            self.fetch(file)?;
        }
        Ok(listed)
    }

    /// Downloads a file, resuming after interruptions as long as each attempt gets further than all
    /// before: receiving the same half repeatedly is no progress.
    fn fetch(&self, file: &str) -> Result<()> {
        if self.snapshot.has(file) {
            return Ok(());
        }
        let (mut failures, mut most) = (0, 0);
        loop {
            let (outcome, has) = self.try_to_fetch(file);
            let reason = match outcome {
                Ok(()) => return Ok(()),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Interrupted(reason)) => reason,
            };
            failures = if has > most { 1 } else { failures + 1 };
            most = most.max(has);
            if failures == MAX_FAILURES {
                return Err(failed(&self.model, file, reason));
            }
            std::thread::sleep(FIRST_WAIT * (1 << (failures - 1)));
        }
    }

    /// Also returns the number of bytes downloaded so far.
    fn try_to_fetch(&self, file: &str) -> (Result<(), Failure>, u64) {
        let metadata = match self.metadata(file) {
            Ok(metadata) => metadata,
            Err(failure) => return (Err(failure), 0),
        };
        // Both become path components.
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let etag = metadata.etag();
        if !is_plain(etag.strip_prefix("W/").unwrap_or(etag)) || !is_plain(metadata.commit_hash()) {
            let reason = "the hub's answer has no usable ETag or commit";
            return (Err(Failure::Final(failed(&self.model, file, reason))), 0);
        }
        let part = self.snapshot.part(etag);
        let length = || std::fs::metadata(&part).map_or(0, |part| part.len());
        // All bytes are there, but the download never completed: the file cannot be trusted.
        if length() >= metadata.size() as u64 {
            let _ = std::fs::remove_file(&part);
        }
        (self.download(file, &metadata, &part, length), length())
    }

    /// Requests the size and the hash of a file.
    fn metadata(&self, file: &str) -> Result<Metadata, Failure> {
        let (api, url) = (self.api.clone(), self.api_repo().url(file));
        let asked = patience::wait(self.hub.patience, || 0, move || api.metadata(&url));
        self.settle(file, asked)
    }

    /// Downloads and verifies a file. `part` is the partial file, `length` returns its current
    /// size.
    fn download(
        &self,
        file: &str,
        metadata: &Metadata,
        part: &Path,
        length: impl Fn() -> u64,
    ) -> Result<(), Failure> {
        let (repo, name) = (self.api_repo(), file.to_owned());
        let (etag, size) = (metadata.etag().to_owned(), metadata.size() as u64);
        // Verified in the worker thread, because an abandoned download may still be running there.
        let part = part.to_owned();
        // To hash a large file takes longer than the patience, and by then it is not partial any more.
        let hashed = Arc::new(AtomicU64::new(0));
        let counter = hashed.clone();
        let work = move || match upto(size, |progress| repo.download_with_progress(&name, progress))
        {
            Some(path) => Ok(check(&path?, size, &etag, &counter)?),
            None => {
                std::fs::remove_file(&part)?;
                Ok(Arrival::TooLong)
            }
        };
        let progress = || length() + hashed.load(Ordering::Relaxed);
        let downloaded = patience::wait(self.hub.patience, progress, work);
        match self.settle(file, downloaded)? {
            Arrival::Whole => Ok(()),
            Arrival::TooLong => {
                Err(Failure::Interrupted(format!("more came than the {size} bytes that it has")))
            }
            Arrival::OtherSize(found) => {
                Err(Failure::Interrupted(format!("{found} bytes came, not {size}")))
            }
            Arrival::Damaged { found, expected } => Err(Failure::Final(Error::Damaged {
                model: self.model.to_string(),
                file: file.to_owned(),
                found,
                expected,
            })),
        }
    }

    fn api_repo(&self) -> ApiRepo {
        self.api.repo(self.repo.clone())
    }

    /// Turns the outcome of a wait into a result.
    fn settle<T>(
        &self,
        file: &str,
        outcome: crate::Result<Option<Result<T, ApiError>>>,
    ) -> Result<T, Failure> {
        match outcome {
            Ok(Some(Ok(value))) => Ok(value),
            Ok(Some(Err(error))) => Err(self.failure(file, error)),
            Ok(None) => Err(Failure::Final(Error::Stalled {
                model: self.model.to_string(),
                file: file.to_owned(),
                seconds: self.hub.patience.as_secs_f64(),
            })),
            Err(error) => Err(Failure::Final(error.into())),
        }
    }

    fn failure(&self, file: &str, error: ApiError) -> Failure {
        let status = match &error {
            ApiError::RequestError(error) => match error.as_ref() {
                ureq::Error::StatusCode(status) => *status,
                _ => return Failure::Interrupted(error.to_string()),
            },
            ApiError::IoError(_) | ApiError::InvalidResume => {
                return Failure::Interrupted(error.to_string());
            }
            _ => return Failure::Final(failed(&self.model, file, error)),
        };
        match status {
            401 | 403 => Failure::Final(gated(self.hub, &self.model)),
            408 | 429 | 500.. => Failure::Interrupted(error.to_string()),
            _ => Failure::Final(failed(&self.model, file, error)),
        }
    }

    fn enter_revision(&self) -> Result<(), (PathBuf, std::io::Error)> {
        let write = |path: PathBuf, text: &str| {
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            folder.and_then(|()| std::fs::write(&path, text)).map_err(|error| (path, error))
        };
        for file in OPTIONAL.iter().filter(|file| !self.files.contains_key(**file)) {
            write(self.snapshot.absence(file), "")?;
        }
        let commit = self.snapshot.folder();
        let commit = commit.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        write(self.snapshot.reference(&self.model.revision), commit)
    }
}

/// Requests the commit of the revision and its files.
fn list(hub: &Hub, model: &HubModel) -> Result<Listing> {
    let offline = |reason: String| Error::Offline {
        endpoint: hub.endpoint.clone(),
        model: model.to_string(),
        cache: hub.cache.clone(),
        reason,
    };
    if hub.offline {
        return Err(offline("HF_HUB_OFFLINE is set".to_owned()));
    }
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(hub.patience))
        .http_status_as_error(false)
        .build();
    let endpoint = hub.endpoint.trim_end_matches('/');
    let revision = model.revision.replace('/', "%2F");
    let url = format!("{endpoint}/api/models/{}/revision/{revision}?blobs=true", model.name);
    let mut request = ureq::Agent::new_with_config(config).get(url);
    if let Some(token) = &hub.token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut response = request.call().map_err(|error| offline(error.to_string()))?;
    let wrong = |reason: String| failed(model, "the list of files", reason);
    match response.status().as_u16() {
        200 => {}
        401 | 404 => {
            let (endpoint, model) = (hub.endpoint.clone(), model.to_string());
            return Err(Error::NotFound { endpoint, model });
        }
        403 => return Err(gated(hub, model)),
        status => return Err(wrong(format!("{endpoint} answered with status {status}"))),
    }
    let listing: Listing =
        response.body_mut().read_json().map_err(|error| wrong(error.to_string()))?;
    // The hash becomes a path component.
    if listing.sha.chars().all(|c| c.is_ascii_alphanumeric()) && !listing.sha.is_empty() {
        Ok(listing)
    } else {
        Err(wrong(format!("{:?} is not a commit", listing.sha)))
    }
}

fn gated(hub: &Hub, model: &HubModel) -> Error {
    Error::Gated { endpoint: hub.endpoint.clone(), model: model.to_string() }
}

fn failed(model: &HubModel, file: &str, reason: impl ToString) -> Error {
    Error::Download {
        model: model.to_string(),
        file: file.to_owned(),
        reason: reason.to_string(),
    }
}
