//! What the files of the pages were made from: a list of hashes, checked in beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use exercises_runner::cargo::cargo;
use quote::ToTokens;
use sha2::{Digest, Sha256};
use syn::visit_mut::{self, VisitMut};

use super::FOLDER;

const FILE: &str = "sources.sha256";

/// The versions and features of the crates that are compiled.
const CRATES: &str = "crates";

/// Sources that cargo does not list: what makes the files, and what the weights are made from.
const OTHERS: [&str; 7] = [
    "book/live/Cargo.toml",
    "models/ember/config.json",
    "models/ember/model.safetensors",
    "models/ember/tokenizer.json",
    ".ci/xtask/src/live/build.rs",
    ".ci/xtask/src/live/stories.rs",
    ".ci/xtask/src/live/weights.rs",
];

/// Writes the list, for the files that were compiled.
pub fn write(root: &Path, compiled: &[PathBuf]) -> Result<()> {
    let mut hashes = BTreeMap::new();
    for file in compiled {
        let relative = file.strip_prefix(root).with_context(|| {
            format!("{} is compiled, and lies outside of the project", file.display())
        })?;
        let relative = relative.to_string_lossy().replace('\\', "/");
        if !relative.starts_with("target/") {
            hashes.insert(relative.clone(), hash(root, &relative)?);
        }
    }
    for other in OTHERS {
        hashes.insert(other.to_owned(), hash(root, other)?);
    }
    hashes.insert(CRATES.to_owned(), hash(root, CRATES)?);
    let lines = hashes.iter().map(|(file, hash)| format!("{hash}  {file}\n"));
    fs::write(root.join(FOLDER).join(FILE), lines.collect::<String>())?;
    Ok(())
}

/// Fails where a source is not what it was, and says which.
pub fn check(root: &Path) -> Result<()> {
    let list = fs::read_to_string(root.join(FOLDER).join(FILE)).unwrap_or_default();
    ensure!(!list.is_empty(), "{FOLDER}/{FILE} is not there: `cargo xtask live` writes it");
    let mut changed = Vec::new();
    for line in list.lines() {
        let (was, file) = line.split_once("  ").context("a line without a hash")?;
        match hash(root, file) {
            Ok(is) if is == was => {}
            Ok(_) => changed.push(format!("{file} has changed")),
            Err(error) => changed.push(format!("{file}: {error:#}")),
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    bail!(
        "the engine in the pages is older than its sources; run `cargo xtask live`:\n{}",
        changed.join("\n")
    )
}

fn hash(root: &Path, file: &str) -> Result<String> {
    if file == CRATES {
        return Ok(digest(crates(root)?.as_bytes()));
    }
    let bytes = fs::read(root.join(file)).context("cannot be read")?;
    let is_rust = file.ends_with(".rs");
    Ok(if is_rust {
        digest(code(&bytes)?.as_bytes())
    } else {
        digest(&bytes)
    })
}

fn digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The code of a source, as tokens: a change to its comments, its indentation or its tests does not
/// change what is compiled, and who makes one needs no wasm32 toolchain. (A trailing comma is a token.)
fn code(source: &[u8]) -> Result<String> {
    let mut file = syn::parse_file(std::str::from_utf8(source)?)?;
    Compiled.visit_file_mut(&mut file);
    Ok(file.to_token_stream().to_string())
}

/// Removes doc comments and what is compiled for tests only.
struct Compiled;

impl VisitMut for Compiled {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
        attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    }

    fn visit_file_mut(&mut self, file: &mut syn::File) {
        file.items.retain(|item| !is_test(item));
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| !is_test(item));
        }
        visit_mut::visit_item_mod_mut(self, module);
    }
}

fn is_test(item: &syn::Item) -> bool {
    let syn::Item::Mod(module) = item else {
        return false;
    };
    module.attrs.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
    })
}

/// The crates that are compiled for the pages, with their versions and features.
fn crates(root: &Path) -> Result<String> {
    let output = cargo()
        .args([
            "tree",
            "--package",
            "slowburn-live",
            "--target",
            "wasm32-unknown-unknown",
        ])
        .args([
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p} {f}",
        ])
        .arg("--locked")
        .current_dir(root)
        .output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    // A package of the workspace is followed by its path.
    let mut lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    lines.retain(|line| !line.contains(&*root.to_string_lossy()));
    lines.sort_unstable();
    lines.dedup();
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_compiled_counts() {
        let hash = |text: &str| code(text.as_bytes()).unwrap();
        let source = "/// One.\nfn one() -> u8 { 1 }\n";
        for same in [
            "fn one() -> u8 {\n    1 // the first\n}",
            "//! Numbers.\n/// Another word.\nfn one() -> u8 { 1 }",
            "fn one() -> u8 { 1 }\n#[cfg(test)]\nmod tests { #[test] fn two() {} }",
        ] {
            assert_eq!(hash(same), hash(source), "{same}");
        }
        for other in [
            "fn one() -> u8 { 2 }",
            "#[inline] fn one() -> u8 { 1 }",
            "fn one() -> u8 { 1 }\nmod tests {}",
        ] {
            assert_ne!(hash(other), hash(source), "{other}");
        }
    }
}
