//! What lies in the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry};
use std::io::Error as IoError;
use std::path::{Path, PathBuf};

use super::snapshot::Snapshot;
use super::{Error, Hub, HubModel, MOST_OF_A_NAME, Result};
use crate::files;

/// A model in the cache, at one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedModel {
    /// The name by which it is loaded: of a repository of GGUF files, that of the file.
    pub model: String,
    /// What is loaded: a folder or a file.
    pub path: PathBuf,
    /// The bytes of its files. Commits share files that are equal, so that those of a model together may
    /// take less.
    pub bytes: u64,
    /// Whether all files are there that loading needs.
    pub is_whole: bool,
}

impl Hub {
    /// The models in the cache, those of other programs too, in the order of their names.
    ///
    /// # Errors
    /// A cache that cannot be read. One that does not exist has no models.
    pub fn cached(&self) -> Result<Vec<CachedModel>> {
        let wrong = |source| self.unreadable(source);
        let mut models = Vec::new();
        for folder in folders(&self.cache).map_err(wrong)? {
            // Besides models there are data sets, locks, and what others have put there.
            let Some(name) = model_name(&folder) else {
                continue;
            };
            let revisions = revisions(&folder.join("refs"));
            for commit in folders(&folder.join("snapshots")).map_err(wrong)? {
                let commit = file_name(&commit);
                let revision = revisions.get(&commit).unwrap_or(&commit);
                if let Ok(model) = format!("{name}@{revision}").parse::<HubModel>() {
                    models.extend(self.in_snapshot(&model, &commit));
                }
            }
        }
        models.sort_by(|a, b| a.model.cmp(&b.model));
        Ok(models)
    }

    /// Removes a model from the cache, all of its commits and files. Returns how many bytes it had.
    ///
    /// # Errors
    /// A model that is not in the cache; files that cannot be removed.
    pub fn remove(&self, model: &HubModel) -> Result<u64> {
        let folder = Snapshot::new(&self.cache, model, "").repository().to_owned();
        if !folder.is_dir() {
            return Err(Error::NotCached { model: model.name.clone(), cache: self.cache.clone() });
        }
        let bytes = bytes_in(&folder);
        let failed = |source| crate::LoadError::Io { path: folder.clone(), source };
        fs::remove_dir_all(&folder).map_err(|source| crate::Error::Load(failed(source)))?;
        Ok(bytes)
    }

    /// The models of a commit: a folder with weights, or GGUF files, each by itself.
    fn in_snapshot(&self, model: &HubModel, commit: &str) -> Vec<CachedModel> {
        let snapshot = Snapshot::new(&self.cache, model, commit);
        let folder = snapshot.folder();
        let ggufs = gguf_files(&folder);
        let entry = |model: HubModel, name: String, bytes| CachedModel {
            path: snapshot.path(&model),
            is_whole: snapshot.can_be_loaded(&model),
            bytes,
            model: name,
        };
        // A repository may have both: GGUF files for llama.cpp, and the folder that they were made of.
        let is_folder = ggufs.is_empty() || snapshot.has("config.json");
        let whole = is_folder.then(|| entry(model.clone(), model.to_string(), bytes_in(&folder)));
        let files = ggufs.into_iter().filter_map(|file| {
            let model = HubModel { file: Some(file.clone()), ..model.clone() };
            let parts = model.gguf_files();
            // One line for all parts of a model.
            if parts.first() != Some(&file) {
                return None;
            }
            let bytes = parts.iter().map(|part| length(&folder.join(part))).sum();
            let revision = match model.revision.as_str() {
                "main" => String::new(),
                revision => format!("@{revision}"),
            };
            let name = format!("{}/{file}{revision}", model.name);
            Some(entry(model, name, bytes))
        });
        whole.into_iter().chain(files).collect()
    }

    fn unreadable(&self, source: IoError) -> Error {
        let path = self.cache.clone();
        crate::Error::Load(crate::LoadError::Io { path, source }).into()
    }
}

/// The repository of a folder of the cache: `org/name` of `models--org--name`.
fn model_name(folder: &Path) -> Option<String> {
    let name = file_name(folder).strip_prefix("models--")?.replacen("--", "/", 1);
    name.parse::<HubModel>().is_ok().then_some(name)
}

/// Which revision names a commit: `main`, if it does.
fn revisions(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut names = Vec::new();
    names_below(folder, "", &mut names);
    for name in names {
        let commit = files::read(&folder.join(&name), MOST_OF_A_NAME).ok().flatten();
        if let Some(Ok(commit)) = commit.map(String::from_utf8) {
            let known = found.entry(commit.trim().to_owned()).or_insert_with(|| name.clone());
            if name == "main" {
                *known = name;
            }
        }
    }
    found
}

/// The files below a folder, by their paths in it, in order. Links to folders are files: they could lead
/// in circles.
fn names_below(folder: &Path, prefix: &str, names: &mut Vec<String>) {
    let Ok(entries) = folder.read_dir() else {
        return;
    };
    let mut entries: Vec<DirEntry> = entries.flatten().collect();
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names_below(&entry.path(), &format!("{name}/"), names);
        } else {
            names.push(name);
        }
    }
}

/// The GGUF files below a folder, by their paths in it, in order.
pub(super) fn gguf_files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    names_below(folder, "", &mut found);
    found.retain(|name| name.to_ascii_lowercase().ends_with(".gguf"));
    found
}

/// The folders in a folder, in order. One that does not exist has none.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, IoError> {
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let paths: Result<Vec<PathBuf>, IoError> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut folders: Vec<PathBuf> = paths?.into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

/// The bytes of all files below a folder, each once: those that are links count where they lead, unless
/// that is below the folder too.
fn bytes_in(folder: &Path) -> u64 {
    let mut names = Vec::new();
    names_below(folder, "", &mut names);
    let targets = names.iter().filter_map(|name| folder.join(name).canonicalize().ok());
    let targets: BTreeSet<PathBuf> = targets.collect();
    targets.iter().map(|path| length(path)).sum()
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |found| found.len())
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
