//! `cargo xtask bench`: prefill and decode throughput of the cached loop, compared with other
//! engines and with the goals.

mod before;
mod candle;
mod contender;
mod dtype;
mod field;
mod goals;
pub mod machine;
mod measured;
mod ours;
mod process;
pub mod python;
mod rounds;
mod table;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use slowburn::device::Precision;

use crate::load_cost::LoadCost;
use crate::random_checkpoint::{self, Shape};
use before::Before;
use contender::Peer;
pub use dtype::Dtype;
use field::Field;
use goals::Results;
pub use goals::{Goal, Limit};
pub use measured::{Measured, Phase, Workload, median};
pub use ours::{Ours, greedy};
pub use process::Process;
use rounds::Case;
pub use table::goals as goals_table;

/// Each round, every contender generates the same tokens from the same prompt, greedily and
/// without an end, in turns. What is printed is the median of the rounds, and of ratios the
/// median of the rounds' ratios. Prefill is the time until the first new token is known, decode
/// the time from there to the last.
#[derive(Args)]
pub struct BenchArgs {
    /// A model folder; without it, the shapes of SmolLM2-135M and stories15M with random weights,
    /// made in data/ where they are missing
    #[arg(long)]
    model: Option<PathBuf>,
    /// Measure other engines too, in turns: all, or those that are named
    #[arg(long, value_enum, value_delimiter = ',', num_args = 0.., require_equals = true,
          default_missing_values = ["llama.cpp", "candle", "transformers"])]
    peers: Vec<Peer>,
    /// The Python that has the packages of llama.cpp (llama_cpp, gguf, numpy) and of
    /// transformers (transformers, torch)
    #[arg(long, default_value = "python3")]
    python: String,
    /// Tokens in the prompt
    #[arg(long, value_delimiter = ',', default_value = "128,1800")]
    prompt_tokens: Vec<usize>,
    /// What to store weights, keys and values in
    #[arg(long, value_enum, value_delimiter = ',', default_value = "f32,f16")]
    dtype: Vec<Dtype>,
    /// Tokens to generate
    #[arg(long, default_value_t = 64)]
    new_tokens: usize,
    /// How many sequences Slow Burn generates at once, after the first of the prompts; 1 leaves
    /// this out
    #[arg(long, default_value_t = 8)]
    batch: usize,
    /// How many rounds are counted, after one that is not
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Threads that compute
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// The example 06_batching of an older build: its batches of the bundled model are compared
    /// with those of this source tree
    #[arg(long)]
    before: Option<PathBuf>,
}

pub fn run(args: &BenchArgs) -> Result<()> {
    ensure!(args.new_tokens >= 2, "decode begins with the second new token");
    ensure!(args.rounds >= 1, "nothing is measured in no round");
    ensure!(args.batch >= 1, "a batch has a sequence at least");
    ensure!(!args.prompt_tokens.contains(&0), "a prompt has a token at least");
    rayon::ThreadPoolBuilder::new().num_threads(args.threads).build_global()?;
    let field = Field::gather(&args.peers, &args.python, args.threads)?;
    println!("{}, {} threads, {}", machine::describe()?, args.threads, machine::simd());
    println!("{}", field.describe());

    let mut results = Results::default();
    match &args.model {
        Some(folder) => {
            let name = folder.file_name().unwrap_or(folder.as_os_str()).display().to_string();
            measure(args, &field, (&name, folder), &mut results)?;
        }
        None => {
            for shape in [Shape::SmolLm2_135m, Shape::Stories15m] {
                let folder = checkpoint(shape)?;
                measure(args, &field, (shape.name(), &folder), &mut results)?;
            }
            results.load = Some(load_cost(&checkpoint(Shape::SmolLm2_135m)?)?);
        }
    }
    if let Some(load) = &results.load {
        println!("\n{}, loaded in a process of its own\n", Shape::SmolLm2_135m.name());
        load.print();
    }
    if let Some(older) = &args.before {
        let before = Before::measure(older, args.rounds)?;
        println!("\nember, now and before\n\n{}", before.table().trim_end());
        results.before = Some(before);
    }
    if args.model.is_none() {
        println!("\nThe goals, as ratios\n\n{}", table::goals(&goals::goals(&results)).trim_end());
    }
    Ok(())
}

/// Measures all cases of a model, and prints each as it is done.
fn measure(
    args: &BenchArgs,
    field: &Field,
    (name, folder): (&str, &Path),
    results: &mut Results,
) -> Result<()> {
    let load = |dtype: &Dtype| Ours::load(Some(folder), *dtype, args.threads);
    let ours = args.dtype.iter().map(load).collect::<Result<Vec<_>>>()?;
    let mut contenders = field.contenders(folder, &ours);
    for (place, &prompt_tokens) in args.prompt_tokens.iter().enumerate() {
        let config = ours.first().context("nothing to store weights in")?.model.config();
        if prompt_tokens + args.new_tokens > config.context_length {
            println!(
                "\n{name} has a context of {}: nothing to measure after {prompt_tokens} tokens",
                config.context_length
            );
            continue;
        }
        let workload = Workload::new(prompt_tokens, args.new_tokens, config.vocab_size);
        if place == 0 && args.batch > 1 {
            field::add_batches(&mut contenders, &ours, args.batch);
        }
        let case = Case::measure(name, workload, &mut contenders, args.rounds)?;
        field::remove_batches(&mut contenders);
        let mib = |ours: &Ours| (ours.dtype, ours.model.bytes() as f64 / f64::from(1 << 20));
        let sizes: Vec<_> = ours.iter().map(mib).collect();
        println!("\n{}\n\n{}", table::heading(&case, &sizes), table::case(&case).trim_end());
        for left_out in &case.left_out {
            println!("\nLeft out: {left_out}");
        }
        results.cases.push(case);
    }
    Ok(())
}

/// The checkpoint folder of a shape, created if missing.
pub fn checkpoint(shape: Shape) -> Result<PathBuf> {
    let folder = Path::new("data").join(shape.name());
    random_checkpoint::write_missing(shape, &folder, Precision::F32)?;
    Ok(folder)
}

/// Runs in a new process, whose memory holds nothing else.
fn load_cost(folder: &Path) -> Result<LoadCost> {
    let output = Command::new(env::current_exe()?)
        .arg("load-cost")
        .arg(folder)
        .output()
        .context("cannot start load-cost")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "load-cost: {said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

#[cfg(test)]
mod tests {
    use clap::{Parser, ValueEnum};

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        bench: BenchArgs,
    }

    fn parse(words: &[&str]) -> BenchArgs {
        Cli::try_parse_from([&["bench"], words].concat()).unwrap().bench
    }

    #[test]
    fn peers_are_all_of_them_unless_some_are_named() {
        assert!(parse(&[]).peers.is_empty());
        assert_eq!(parse(&["--peers"]).peers, Peer::value_variants());
        let some = parse(&["--peers=llama.cpp,candle", "--rounds", "3"]);
        assert_eq!(some.peers, [Peer::LlamaCpp, Peer::Candle]);
        assert_eq!(some.rounds, 3);
    }

    #[test]
    fn both_lengths_and_types_are_measured_unless_others_are_named() {
        let args = parse(&[]);
        assert_eq!(args.prompt_tokens, [128, 1800]);
        assert_eq!(args.dtype, [Dtype::F32, Dtype::F16]);
        let args = parse(&["--prompt-tokens", "9", "--dtype", "f16"]);
        assert_eq!((args.prompt_tokens, args.dtype), (vec![9], vec![Dtype::F16]));
    }
}
