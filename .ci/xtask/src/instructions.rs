//! `cargo xtask instructions`: how many instructions a token takes on 64-bit Arm, under qemu.
//!
//! Emulated instructions take times of their own, which say nothing about a processor. Their number is that
//! of the real one. Every 64-bit Arm processor has NEON, so the compiler uses it for the plain loops of
//! `--simd scalar` too: these are the same sums without what the kernels do for NEON.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

/// The bundled model continues a prompt on one thread. Counted is the whole program, twice, with one
/// length and with another: the difference is what the further tokens take, with sampling, and without
/// loading the model.
#[derive(Args)]
pub struct InstructionsArgs {
    /// Tokens of the shorter prompt
    #[arg(long, default_value_t = 32)]
    prompt_tokens: usize,
    /// By how many tokens the longer prompt is longer
    #[arg(long, default_value_t = 96)]
    more_prompt_tokens: usize,
    /// By how many new tokens the longer text is longer
    #[arg(long, default_value_t = 32)]
    more_new_tokens: usize,
    /// Fail where the kernels for NEON save no instructions, or products of bytes no further ones
    #[arg(long)]
    check: bool,
}

/// Formats of weights, and of activations.
struct Format {
    name: &'static str,
    flags: &'static [&'static str],
    /// Whether integers are multiplied with integers.
    integers: bool,
}

const FORMATS: [Format; 6] = [
    format("f32", &[], false),
    format("f16", &["--dtype", "f16"], false),
    format("int8", &["--quantize", "int8"], false),
    format("int4", &["--quantize", "int4"], false),
    format("int8, activations int8", &["--quantize", "int8", "--activations", "int8"], true),
    format("int4, activations int8", &["--quantize", "int4", "--activations", "int8"], true),
];

const fn format(name: &'static str, flags: &'static [&'static str], integers: bool) -> Format {
    Format { name, flags, integers }
}

/// Processors that qemu emulates: without and with products of bytes.
const PLAIN: &str = "cortex-a72";
const WITH_DOT_PRODUCTS: &str = "cortex-a76";

/// Instructions of one token.
struct PerToken {
    prefill: f64,
    decode: f64,
}

pub fn run(args: &InstructionsArgs) -> Result<()> {
    ensure!(
        args.prompt_tokens >= 1 && args.more_prompt_tokens >= 1 && args.more_new_tokens >= 1,
        "nothing is counted of no tokens"
    );
    let counter = Counter::build()?;
    println!("| | prefill | | | decode | | |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    println!(
        "| *weights* | *plain loops* | *NEON* | *with `sdot`* | *plain loops* | *NEON* | *with `sdot`* |"
    );
    for format in &FORMATS {
        let count = |simd, cpu| counter.per_token(args, format, simd, cpu);
        let mut ways = vec![count("scalar", PLAIN)?, count("neon", PLAIN)?];
        if format.integers {
            ways.push(count("neon", WITH_DOT_PRODUCTS)?);
        }
        for phase in [|way: &PerToken| way.prefill, |way: &PerToken| way.decode] {
            let counts: Vec<f64> = ways.iter().map(phase).collect();
            ensure!(
                !args.check || saves(&counts),
                "{}: {counts:.0?} instructions of a token, by plain loops, by the kernels for NEON, and with \
                 products of bytes: each should be less than the one before",
                format.name
            );
        }
        println!(
            "| {} | {} | {} |",
            format.name,
            cells(&ways, |way| way.prefill),
            cells(&ways, |way| way.decode)
        );
    }
    println!(
        "\nMillions of instructions for a token, of `{PLAIN}`, and with `sdot` of `{WITH_DOT_PRODUCTS}`, under {}.",
        counter.qemu
    );
    Ok(())
}

/// Whether each way takes fewer instructions than the one before.
fn saves(counts: &[f64]) -> bool {
    counts.is_sorted_by(|before, after| after < before)
}

/// The counts of each way, in millions.
fn cells(ways: &[PerToken], phase: impl Fn(&PerToken) -> f64) -> String {
    let cell = |i| ways.get(i).map_or(String::new(), |way| format!("{:.2}", phase(way) / 1e6));
    [0, 1, 2].map(cell).join(" | ")
}

/// The example, and a qemu that counts.
struct Counter {
    root: &'static Path,
    plugin: PathBuf,
    qemu: String,
}

impl Counter {
    fn build() -> Result<Self> {
        let root = crate::root();
        let plugin = root.join("target/instructions.so");
        let built = Command::new("rustc")
            .args([
                "--edition",
                "2024",
                "-O",
                "-C",
                "panic=abort",
                "--crate-type",
                "cdylib",
                "-o",
            ])
            .arg(&plugin)
            .arg(root.join(".ci/xtask/src/instructions/counter.rs"))
            .status()
            .context("rustc")?;
        ensure!(built.success(), "the plugin that counts does not build");
        let built = on_arm(root, "build").arg("--quiet").status().context(".ci/aarch64")?;
        ensure!(built.success(), "the example does not build for aarch64");
        let version = Command::new("qemu-aarch64").arg("--version").output();
        let version =
            version.context("qemu-aarch64 (Debian's qemu-user: the static one has no plugins)")?;
        let version = String::from_utf8_lossy(&version.stdout);
        let version = version.split_whitespace().nth(2).context("qemu has no version")?;
        let qemu = format!("qemu {version}");
        Ok(Self { root, plugin, qemu })
    }

    fn per_token(
        &self,
        args: &InstructionsArgs,
        format: &Format,
        simd: &str,
        cpu: &str,
    ) -> Result<PerToken> {
        let count =
            |prompt, new| self.count(&[format.flags, &["--simd", simd]].concat(), cpu, prompt, new);
        let short = count(args.prompt_tokens, 1)?;
        let prompt = count(args.prompt_tokens + args.more_prompt_tokens, 1)?;
        let text = count(args.prompt_tokens, 1 + args.more_new_tokens)?;
        let each = |count: u64, tokens| count.saturating_sub(short) as f64 / tokens as f64;
        Ok(PerToken {
            prefill: each(prompt, args.more_prompt_tokens),
            decode: each(text, args.more_new_tokens),
        })
    }

    /// The instructions of the whole program.
    fn count(&self, flags: &[&str], cpu: &str, prompt: usize, new: usize) -> Result<u64> {
        let ids: Vec<String> = (0..prompt).map(|i| (5 + i * 31 % 200).to_string()).collect();
        let output = on_arm(self.root, "run")
            .args([
                "--quiet",
                "--",
                "--device",
                "cpu",
                "--threads",
                "1",
                "--ignore-eos",
            ])
            .args([
                "--prompt-ids",
                &ids.join(","),
                "--max-tokens",
                &new.to_string(),
            ])
            .args(flags)
            .env("QEMU_CPU", cpu)
            .env("QEMU_PLUGIN", &self.plugin)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .context(".ci/aarch64")?;
        let said = String::from_utf8_lossy(&output.stderr);
        let mut counts = said.lines().filter_map(|line| line.strip_prefix("instructions: "));
        match counts.next_back() {
            Some(count) if output.status.success() => Ok(count.trim().parse()?),
            _ => bail!("nothing was counted: {said}"),
        }
    }
}

/// Cargo for 64-bit Arm, with the example: optimised whole, since what calls the library has
/// checks of overflows otherwise, which are instructions too.
fn on_arm(root: &Path, verb: &str) -> Command {
    let mut command = Command::new(root.join(".ci/aarch64"));
    command.args([verb, "--release", "--example", "05_kv_cache"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_and_products_of_bytes_must_pay() {
        assert!(saves(&[10.0, 9.9]));
        assert!(!saves(&[10.0, 10.0]));
        assert!(saves(&[10.0, 4.0, 3.9]));
        assert!(!saves(&[10.0, 4.0, 4.0]));
    }

    #[test]
    fn a_way_that_was_not_counted_has_an_empty_cell() {
        let way = |decode| PerToken { prefill: 0.0, decode };
        assert_eq!(cells(&[way(2e6), way(123_456.0)], |way| way.decode), "2.00 | 0.12 | ");
    }
}
