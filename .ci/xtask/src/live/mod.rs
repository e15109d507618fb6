//! `cargo xtask live`: the crate for the pages of the book, as WebAssembly, and its weights.
//!
//! What it writes is checked in, so that the book is built without a wasm32 toolchain. `--check` says
//! when it is older than its sources.

mod browser;
mod build;
mod sources;
mod stories;
pub mod weights;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use sha2::{Digest, Sha256};

/// Where the pages find it, from the root.
const FOLDER: &str = "book/src/live";
/// The weights.
const WEIGHTS: &str = "ember.gguf";
/// Stories in f32, for the widget that compares formats.
const STORIES: &str = "stories.json";
/// What a page asks for first: the version of the other files, by which they are cached.
const VERSION: &str = "version.json";
/// The most that a page loads, in bytes.
const MOST: u64 = 5_300_000;

#[derive(Args)]
pub struct LiveArgs {
    /// Build nothing: compare the sources with those that the files were made from
    #[arg(long)]
    check: bool,
    /// Build nothing: use every widget in a browser, and compare it with the library
    #[arg(long)]
    browser: bool,
    /// Only the checks in the browser whose name holds this
    #[arg(long, default_value = "", requires = "browser")]
    only: String,
    /// The browser; by default the first of chromium, chromium-browser and google-chrome
    #[arg(long, env = "CHROMIUM", value_name = "PROGRAM")]
    chromium: Option<PathBuf>,
    /// Where to put pictures of the widgets
    #[arg(long, value_name = "FOLDER", default_value = "target/live/pictures")]
    out: PathBuf,
    /// A wasm32 toolchain that rustup has not installed: a folder with Debian's packages rustc-web,
    /// libstd-rust-web-dev, rust-web-src and lld unpacked
    #[arg(long, env = "WASM_TOOLCHAIN", value_name = "FOLDER")]
    toolchain: Option<PathBuf>,
}

pub fn run(args: &LiveArgs) -> Result<()> {
    let root = crate::root();
    if args.browser {
        return browser::run(args.chromium.as_deref(), root, &args.only, &args.out);
    }
    if !args.check {
        write(root, args.toolchain.as_deref())?;
    }
    sources::check(root)?;
    report(root)
}

fn write(root: &Path, toolchain: Option<&Path>) -> Result<()> {
    let folder = root.join(FOLDER);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(WEIGHTS), weights::gguf(&root.join("models/ember"), "ember")?)?;
    fs::write(folder.join(STORIES), stories::json()?)?;
    let built = build::run(root, &folder, toolchain)?;
    fs::write(folder.join(VERSION), version(&folder)?)?;
    sources::write(root, &built)
}

/// What the file of the version says: a hash of the other files, and the bytes that a widget waits for.
fn version(folder: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    for file in loaded() {
        let path = folder.join(file);
        hash.update(fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?);
    }
    let hash = format!("{:x}", hash.finalize());
    let bytes = engine_bytes(folder)?;
    Ok(format!("{{\"bytes\":{bytes},\"version\":\"{}\"}}\n", &hash[..16]))
}

/// How much a page loads before its first widget can be used.
fn engine_bytes(folder: &Path) -> Result<u64> {
    let files = loaded().into_iter().filter(|file| *file != STORIES);
    files.map(|file| Ok(fs::metadata(folder.join(file))?.len())).sum()
}

/// The files that a page loads, from the folder.
fn loaded() -> [&'static str; 5] {
    ["worker.js", build::SCRIPT, build::MODULE, WEIGHTS, STORIES]
}

/// Prints the sizes, and fails where they are too large.
fn report(root: &Path) -> Result<()> {
    let folder = root.join(FOLDER);
    let mut total = 0;
    for file in loaded() {
        let bytes = fs::metadata(folder.join(file))?.len();
        println!("{bytes:>9} bytes  {FOLDER}/{file}");
        total += bytes;
    }
    println!("{total:>9} bytes  in all, of {MOST}");
    ensure!(total <= MOST, "a page would load {total} bytes, more than {MOST}");
    ensure!(
        fs::read_to_string(folder.join(VERSION))? == version(&folder)?,
        "{FOLDER}/{VERSION} is that of other files: run `cargo xtask live`"
    );
    Ok(())
}
