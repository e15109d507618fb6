//! The package `slowburn-live`, compiled to WebAssembly.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use exercises_runner::cargo::cargo;
use flate2::Compression;
use flate2::write::GzEncoder;

/// What `wasm-bindgen` writes: the JavaScript around the module, and the module. The module is stored
/// compressed, to a quarter: not every server would compress it on the way.
pub const SCRIPT: &str = "slowburn_live.js";
pub const MODULE: &str = "slowburn_live_bg.wasm.gz";

const PACKAGE: &str = "slowburn-live";
const TARGET: &str = "wasm32-unknown-unknown";

/// Of the packages in `Cargo.lock`, the one whose tool must have the same version.
const BINDGEN: &str = "wasm-bindgen";

/// Builds the module into `to`. Returns the files that it was compiled from.
pub fn run(root: &Path, to: &Path, toolchain: Option<&Path>) -> Result<Vec<PathBuf>> {
    let bindgen = bindgen(root)?;
    // A folder of its own, so that nothing else is built anew for it.
    let target = root.join("target/live");
    let mut cargo = cargo();
    cargo
        .args([
            "build",
            "--release",
            "--package",
            PACKAGE,
            "--target",
            TARGET,
        ])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "3")
        .env("CARGO_PROFILE_RELEASE_LTO", "fat")
        // Of the crates that this one is built on, hardly any computes: they are compiled for size.
        .args(["--config", "profile.release.package.\"*\".opt-level=\"s\""])
        .args([
            "--config",
            "profile.release.package.burn-flex.opt-level=\"s\"",
        ])
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
    let mut flags = vec![
        r#"--cfg=getrandom_backend="wasm_js""#.to_owned(),
        "-Ctarget-feature=+simd128".to_owned(),
    ];
    if let Some(toolchain) = toolchain.filter(|_| !rustup_has_target()) {
        let usr = toolchain.join("usr");
        let libraries = [
            usr.join("lib/x86_64-linux-gnu"),
            usr.join("lib/llvm-22/lib"),
        ];
        let linker = usr.join("bin/wasm-ld-22");
        ensure!(linker.exists(), "there is no {}", linker.display());
        flags.push("-Clinker-flavor=wasm-ld".to_owned());
        flags.push(format!("--remap-path-prefix={}=toolchain", toolchain.display()));
        // Its standard library has no SIMD, so it is built too, which a stable compiler refuses.
        cargo
            .arg("-Zbuild-std=std,panic_abort")
            .env("RUSTC", usr.join("bin/rustc"))
            .env("RUSTC_BOOTSTRAP", "1")
            .env("LD_LIBRARY_PATH", env::join_paths(libraries)?)
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    } else if !rustup_has_target() {
        bail!("there is no compiler for {TARGET}: `rustup target add {TARGET}`");
    }
    flags.extend(remapped(root)?);
    // Separated so that a path may hold a space.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    status(&mut cargo)?;

    let built = target.join(TARGET).join("release");
    let made = tempfile::tempdir()?;
    status(
        Command::new(bindgen)
            .args(["--target", "no-modules", "--no-typescript"])
            .args([
                "--remove-name-section",
                "--remove-producers-section",
                "--out-dir",
            ])
            .arg(made.path())
            .arg(built.join("slowburn_live.wasm")),
    )?;
    fs::copy(made.path().join(SCRIPT), to.join(SCRIPT))?;
    let module = fs::read(made.path().join(MODULE.trim_end_matches(".gz")))?;
    let mut compressed = GzEncoder::new(Vec::new(), Compression::best());
    compressed.write_all(&module)?;
    fs::write(to.join(MODULE), compressed.finish()?)?;
    compiled_files(&built.join("slowburn_live.d"))
}

fn rustup_has_target() -> bool {
    let print = ["--print", "target-libdir", "--target", TARGET];
    let folder = Command::new("rustc").args(print).output();
    folder.is_ok_and(|output| {
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success() && Path::new(&folder).is_dir()
    })
}

/// Messages of panics name source files. No path of this machine should be among them.
fn remapped(root: &Path) -> Result<Vec<String>> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).context("no home folder")?;
    let mut flags = vec![format!("--remap-path-prefix={}=.", root.display())];
    let registries = home.join("registry/src");
    if registries.is_dir() {
        for registry in fs::read_dir(&registries)? {
            flags.push(format!("--remap-path-prefix={}=crates", registry?.path().display()));
        }
    }
    Ok(flags)
}

/// The program `wasm-bindgen` in the version of the library, installed if need be.
fn bindgen(root: &Path) -> Result<PathBuf> {
    let lock = fs::read_to_string(root.join("Cargo.lock"))?;
    let mut lines = lock.lines().skip_while(|line| *line != format!("name = \"{BINDGEN}\""));
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = "));
    let version = version.context("Cargo.lock has no wasm-bindgen")?.trim_matches('"');
    let tools = root.join("target/live/tools").join(version);
    let program = tools.join("bin").join(format!("{BINDGEN}{}", env::consts::EXE_SUFFIX));
    if !program.exists() {
        let package = format!("{BINDGEN}-cli@{version}");
        status(
            cargo().args(["install", "--debug", &package, "--bin", BINDGEN, "--root"]).arg(&tools),
        )?;
    }
    Ok(program)
}

fn status(command: &mut Command) -> Result<()> {
    let name = Path::new(command.get_program());
    let name = name.file_name().map(OsStr::to_string_lossy).unwrap_or_default().into_owned();
    let status = command.status().with_context(|| format!("{name} does not start"))?;
    ensure!(status.success(), "{name} has failed");
    Ok(())
}

/// The files of this workspace that cargo compiled, by its list of them.
fn compiled_files(list: &Path) -> Result<Vec<PathBuf>> {
    let text = fs::read_to_string(list)?;
    let (_, files) = text.split_once(": ").context("cargo has written no list of files")?;
    // A space in a path has a backslash before it.
    let files = files.trim().replace("\\ ", "\0");
    Ok(files.split(' ').map(|file| PathBuf::from(file.replace('\0', " "))).collect())
}
