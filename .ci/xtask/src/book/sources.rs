//! The sources of the book: its own texts, and the code that it includes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use anyhow::{Context, Result};

/// The folder of the book's texts.
pub const BOOK: &str = "book/src/";

/// The folders to read: the book and everything that it may include.
const FOLDERS: [&str; 10] = [
    "book/src",
    "src",
    "examples",
    "server",
    "tests",
    "benches",
    ".ci/xtask/src",
    "exercises",
    "solutions",
    "models",
];
const EXTENSIONS: [&str; 9] = [
    "md", "html", "svg", "txt", "rs", "toml", "py", "cfg", "yaml",
];

/// Every source by its path from the root, with `/` as separator.
#[derive(Debug, Default)]
pub struct Sources(BTreeMap<String, String>);

impl Sources {
    pub fn read(root: &Path) -> Result<Self> {
        let mut sources = Self::default();
        for folder in FOLDERS {
            if root.join(folder).is_dir() {
                sources.read_folder(root, folder)?;
            }
        }
        for file in ["Cargo.toml", "README.md"] {
            sources.read_file(root, file)?;
        }
        Ok(sources)
    }

    fn read_folder(&mut self, root: &Path, folder: &str) -> Result<()> {
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let name = entry.file_name();
            let path = format!("{folder}/{}", name.to_string_lossy());
            if entry.file_type()?.is_dir() {
                if name != "target" {
                    self.read_folder(root, &path)?;
                }
                continue;
            }
            let extension = Path::new(&name).extension().unwrap_or_default();
            if EXTENSIONS.iter().any(|known| extension == *known) {
                self.read_file(root, &path)?;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, root: &Path, path: &str) -> Result<()> {
        let text =
            fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))?;
        self.0.insert(path.to_owned(), text);
        Ok(())
    }

    /// The text at a path from the root.
    pub fn text(&self, path: &str) -> Result<&str> {
        self.0.get(path).map(String::as_str).with_context(|| format!("there is no {path}"))
    }

    pub fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files in the book's folder: pages, and files that they include.
    pub fn book(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(|(path, _)| path.starts_with(BOOK))
    }

    /// The Markdown pages of the book, without the output of commands.
    pub fn pages(&self) -> impl Iterator<Item = (&str, &str)> {
        let output = format!("{BOOK}output/");
        self.book().filter(move |(path, _)| path.ends_with(".md") && !path.starts_with(&output))
    }

    /// The files outside the book's folder: listings.
    pub fn code(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(|(path, _)| !path.starts_with(BOOK))
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Sources {
    fn from(texts: [(&str, &str); N]) -> Self {
        Self(texts.map(|(path, text)| (path.to_owned(), text.to_owned())).into())
    }
}

/// Resolves `relative`, as written in `file`, to a path from the root. None if it leads outside.
pub fn resolve(file: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for component in Path::new(relative).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn paths_are_relative_to_the_file_that_names_them() {
        let resolved = |path| resolve("book/src/a.md", path);
        assert_eq!(resolved("output/b.txt").as_deref(), Some("book/src/output/b.txt"));
        assert_eq!(resolved("../../src/lib.rs").as_deref(), Some("src/lib.rs"));
        assert_eq!(resolved("../../../x"), None);
        assert_eq!(resolved("/etc/x"), None);
    }
}
