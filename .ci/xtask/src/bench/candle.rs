//! The candle peer: the program in `benches/peers`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use exercises_runner::cargo::cargo;

use super::dtype::Dtype;

/// The package of the peers' programs.
pub const PACKAGE: &str = "benches/peers";

/// The built program.
pub struct Candle {
    /// The name in tables.
    pub name: String,
    program: PathBuf,
}

impl Candle {
    /// Builds the program with the profile `release`.
    pub fn build() -> Result<Self> {
        let lock = fs::read_to_string(Path::new(PACKAGE).join("Cargo.lock"))
            .with_context(|| format!("no {PACKAGE} here: run this in the root of the project"))?;
        let version =
            locked_version(&lock, "candle-transformers").context("no candle is locked")?;
        Ok(Self { name: format!("candle {version}"), program: build()? })
    }

    /// The command that runs the program on the model in `folder`.
    pub fn program(&self, folder: &Path, dtype: Dtype, threads: usize) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(folder).arg(dtype.name()).env("RAYON_NUM_THREADS", threads.to_string());
        command
    }
}

/// The target folder of the peers.
pub fn target() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    target.join("peers")
}

/// Builds in a separate target folder, and returns the path of the program.
fn build() -> Result<PathBuf> {
    let target = target();
    let status = cargo()
        .args([
            "build",
            "--quiet",
            "--release",
            "--locked",
            "--manifest-path",
        ])
        .arg(Path::new(PACKAGE).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "the peer could not be built");
    let program = format!("candle-peer{}", env::consts::EXE_SUFFIX);
    Ok(target.join("release").join(program))
}

/// The version of a package in a `Cargo.lock`.
pub fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_locked_version() {
        let lock = "[[package]]\nname = \"candle\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"candle-nn\"\nversion = \"0.11.1\"\n";
        assert_eq!(locked_version(lock, "candle-nn"), Some("0.11.1"));
        assert_eq!(locked_version(lock, "candle"), Some("0.1.0"));
        assert_eq!(locked_version(lock, "nn"), None);
    }
}
