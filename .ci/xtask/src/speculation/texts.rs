//! Texts of the bundled model.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::{Context, Result};
use slowburn::device::{self, DeviceChoice};
use slowburn::generate::{self, Chosen, Options};
use slowburn::grammar::Grammar;
use slowburn::kernels::{Cpu, Simd};
use slowburn::model::Model;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use slowburn::speculation::{DraftSource, Speculation};

use super::{Case, MOST, SpeculationArgs, measure};
use crate::bench::Dtype;

/// The tokens of each text.
const TOKENS: usize = 160;

/// A line of each, as a regular expression.
const LIST: &str = r"\n- The (fox|cat|hen|dog) has a (red|blue|green) (hat|boat|ball)\.";
const CODE: &str = r"\nlet [a-d] = (add|mul)\([a-d], [a-d]\);";

pub fn run(args: &SpeculationArgs) -> Result<()> {
    println!(
        "| | texts | weights | plain, tokens/s | lookup | auto | accepted | draft model | accepted |"
    );
    println!("|---|---:|---|---:|---:|---:|---:|---:|---:|");
    for dtype in [Dtype::F32, Dtype::Int8, Dtype::Int4] {
        let pretrained = load(dtype, args.threads)?;
        let draft = DraftSource::Model(Arc::new(draft(&pretrained.model, dtype)?));
        for name in ["told again", "a list", "code", "a story"] {
            row(args, &pretrained, &draft, &case(&pretrained, name, 1)?, dtype)?;
        }
        for sequences in [4, 16] {
            let case = case(&pretrained, "told again", sequences)?;
            row(args, &pretrained, &draft, &case, dtype)?;
        }
    }
    Ok(())
}

/// The draft model in the crate, on the threads of `target`.
fn draft(target: &Model, dtype: Dtype) -> Result<Model> {
    let device = device::open(DeviceChoice::Cpu)?;
    let load = || Pretrained::bundled_draft(&device, dtype.storage());
    Ok(target.cpu().enter(load)?.model)
}

pub fn load(dtype: Dtype, threads: usize) -> Result<Pretrained> {
    let device = device::open(DeviceChoice::Cpu)?;
    let cpu = Cpu::new(Simd::detect(), threads)?;
    Ok(cpu.enter(|| Pretrained::bundled(&device, dtype.storage()))?)
}

/// So many texts. Ember copies what its own stories say, where one is told again. It writes a list and
/// code where a grammar says what their lines look like. A story hardly repeats itself, be it drawn or
/// the most likely one.
pub fn case(pretrained: &Pretrained, name: &'static str, sequences: usize) -> Result<Case> {
    let prompt = |seed: u64| match name {
        "told again" => told_again(pretrained, seed),
        _ => Ok(pretrained.prompt_ids("Once upon a time")?),
    };
    let lines = |line: &str| {
        let grammar = Grammar::Regex(format!("({line}){{40}}"));
        pretrained.constraint(&grammar).map(Some)
    };
    let prompts = (0..sequences as u64).map(prompt).collect::<Result<_>>()?;
    let options = match name {
        "told again" | "most likely" => options(TOKENS, 0.0, 1),
        "a list" => Options { constraint: lines(LIST)?, ..options(TOKENS, 0.8, 1) },
        "code" => Options { constraint: lines(CODE)?, ..options(TOKENS, 0.8, 1) },
        _ => options(TOKENS, 0.8, 1),
    };
    Ok(Case { name, prompts, options })
}

fn options(max_tokens: usize, temperature: f32, seed: u64) -> Options {
    let sampling = SamplingParams { temperature, seed, ..SamplingParams::default() };
    Options { max_tokens, sampling, ignore_eos: true, ..Options::default() }
}

/// A story, and its beginning once more.
fn told_again(pretrained: &Pretrained, seed: u64) -> Result<Vec<u32>> {
    let prompt = pretrained.prompt_ids("Once upon a time")?;
    let temperature = if seed == 0 { 0.0 } else { 0.8 };
    let options = Options { ignore_eos: false, ..options(240, temperature, seed) };
    let go_on = &mut |_: &Chosen<'_>| ControlFlow::Continue(());
    let story = generate::cached(&pretrained.model, &prompt, &options, go_on)?;
    let story = [prompt, story.ids].concat();
    let end = pretrained.model.config().eos_token_ids.first().context("no end token")?;
    Ok([&story[..], &[*end], &story[..40]].concat())
}

fn row(
    args: &SpeculationArgs,
    pretrained: &Pretrained,
    draft: &DraftSource,
    case: &Case,
    dtype: Dtype,
) -> Result<()> {
    let model = &pretrained.model;
    let ways = [
        None,
        Some(Speculation::new(DraftSource::Lookup, MOST)),
        Some(Speculation::auto(DraftSource::Lookup, MOST, model)?),
        Some(Speculation::new(draft.clone(), MOST)),
    ];
    let runs = measure(args, model, case, &ways)?;
    println!(
        "| {} | {} | {} | {:.0} | {:.2} | {:.2} | {:.0} % | {:.2} | {:.0} % |",
        case.name,
        case.prompts.len(),
        dtype.name(),
        runs[0].rate(),
        runs[1].ratio(&runs[0]),
        runs[2].ratio(&runs[0]),
        runs[1].accepted(),
        runs[3].ratio(&runs[0]),
        runs[3].accepted(),
    );
    Ok(())
}
