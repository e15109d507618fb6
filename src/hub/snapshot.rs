//! One commit of a model in the cache.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::cached::gguf_files;
use super::choose::choose;
use super::{HubModel, MOST_OF_A_NAME};
use crate::checkpoint::shards::{INDEX, WHOLE, read_index};
use crate::error::Result;
use crate::files;

/// The files that every model has.
pub(super) const REQUIRED: [&str; 2] = ["config.json", "tokenizer.json"];
/// The files that some models have.
pub(super) const OPTIONAL: [&str; 7] = [
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "modules.json",
    "1_Pooling/config.json",
    "additional_chat_templates/tool_use.jinja",
];

/// The files of one commit. The cache has the layout of Hugging Face's own library: `refs/REVISION`
/// names a commit, `snapshots/COMMIT` holds its files, and `.no_exist/COMMIT` has an empty file for
/// each file known not to exist.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    model: PathBuf,
    commit: String,
}

impl Snapshot {
    pub(super) fn new(cache: &Path, model: &HubModel, commit: &str) -> Self {
        let folder = format!("models--{}", model.name.replace('/', "--"));
        Self { model: cache.join(folder), commit: commit.to_owned() }
    }

    /// The commit that the revision named when it was downloaded.
    pub(super) fn in_cache(cache: &Path, model: &HubModel) -> Option<Self> {
        let mut snapshot = Self::new(cache, model, &model.revision);
        let reference = snapshot.reference(&model.revision);
        if let Ok(Some(commit)) = files::read(&reference, MOST_OF_A_NAME)
            && let Ok(commit) = String::from_utf8(commit)
        {
            snapshot.commit = commit.trim().to_owned();
        }
        snapshot.folder().is_dir().then_some(snapshot)
    }

    /// The folder of the model, with all of its commits.
    pub(super) fn repository(&self) -> &Path {
        &self.model
    }

    /// What `model` means among the files that are there: see [`choose`].
    pub(super) fn choose(&self, model: &HubModel) -> Option<HubModel> {
        let mut files = gguf_files(&self.folder());
        files.extend(
            ["config.json", WHOLE, INDEX]
                .map(str::to_owned)
                .into_iter()
                .filter(|file| self.has(file)),
        );
        choose(model, files.iter().map(String::as_str))
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.model.join("snapshots").join(&self.commit)
    }

    /// What is loaded: the folder, or one file in it.
    pub(super) fn path(&self, model: &HubModel) -> PathBuf {
        match &model.file {
            Some(file) => self.folder().join(file),
            None => self.folder(),
        }
    }

    /// The file that records the commit of a revision.
    pub(super) fn reference(&self, revision: &str) -> PathBuf {
        self.model.join("refs").join(revision)
    }

    /// The marker that `file` does not exist on the hub.
    pub(super) fn absence(&self, file: &str) -> PathBuf {
        self.model.join(".no_exist").join(&self.commit).join(file)
    }

    /// The partial file during a download.
    pub(super) fn part(&self, etag: &str) -> PathBuf {
        self.model.join("blobs").join(etag).with_extension("part")
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.folder().join(file).exists()
    }

    /// Whether all files required to load the model are there.
    pub(super) fn can_be_loaded(&self, model: &HubModel) -> bool {
        if model.file.is_some() {
            return model.gguf_files().iter().all(|file| self.has(file));
        }
        let weights = || {
            if self.has(WHOLE) {
                true
            } else {
                self.shards().is_ok_and(|shards| shards.iter().all(|file| self.has(file)))
            }
        };
        REQUIRED.iter().all(|file| self.has(file)) && weights()
    }

    /// Whether no file is missing that the hub may have.
    pub(super) fn is_whole(&self, model: &HubModel) -> bool {
        let known = |file: &&str| self.has(file) || self.absence(file).exists();
        let has_options = model.file.is_some() || OPTIONAL.iter().all(known);
        has_options && self.can_be_loaded(model)
    }

    /// The files named in the index.
    ///
    /// # Errors
    /// An index that cannot be read, or that names files outside the folder.
    pub(super) fn shards(&self) -> Result<BTreeSet<String>> {
        Ok(read_index(&self.folder())?.into_values().collect())
    }
}
