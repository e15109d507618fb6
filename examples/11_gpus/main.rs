//! GPUs: what the units of a launch do, what bounds a step, and a story on a device.
//!
//! cargo run --example 11_gpus
//! cargo run --example 11_gpus -- --gb-per-second 100 --launch-us 2
//! cargo run --features wgpu --example 11_gpus -- --device wgpu

mod launch;
mod report;

use std::ops::ControlFlow;
use std::process::ExitCode;

use clap::Parser;
use slowburn::device;
use slowburn::generate::{self, Generation, Options};
use slowburn::kernels::trace::{self, Call};
use slowburn::model::{Input, Model};
use slowburn_examples::cli;

use report::{DeviceStory, GpuArgs, GpuReport};

/// How many texts are in the batch.
const BATCH: usize = 4;

/// Shows what the units of a launch do, and writes a story on a GPU where there is one
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    gpu: GpuArgs,
}

fn main() -> ExitCode {
    let args = cli::parse::<Cli>().gpu;
    cli::exit(if args.generate.score {
        cli::score_prompt(&args.generate)
    } else {
        run(&args)
    })
}

fn run(args: &GpuArgs) -> cli::Result<()> {
    let (on_cpu, on_device) = args.load()?;
    let prompt = args.generate.prompt_ids(&on_cpu)?;
    let mut report = GpuReport::new(args, &on_cpu, &decode_step(&on_cpu.model, &prompt)?);
    if let Some((pretrained, device)) = on_device {
        let options = args.options();
        report.add(DeviceStory {
            device: device.to_string(),
            on_cpu: write(&on_cpu.model, &prompt, &options)?.0,
            counted: write(&pretrained.model, &prompt, &options)?,
            in_a_batch: write_among_others(&pretrained.model, &prompt, &options)?,
        });
    }
    report.finish()
}

/// The kernels of a decode step on the CPU.
fn decode_step(model: &Model, prompt: &[u32]) -> cli::Result<Vec<Call>> {
    let mut cache = model.new_cache(prompt.len())?;
    let (before, last) = prompt.split_at(prompt.len() - 1);
    if !before.is_empty() {
        model.forward(&mut [Input::after(&mut cache, before)])?;
    }
    let (step, calls) = trace::record(|| model.forward(&mut [Input::after(&mut cache, last)]));
    step?;
    Ok(calls)
}

/// A text, and how many kernels were launched up to each of its tokens.
fn write(model: &Model, prompt: &[u32], options: &Options) -> cli::Result<(Generation, Vec<u64>)> {
    let mut launches = Vec::new();
    let text = generate::cached(model, prompt, options, &mut |_| {
        launches.push(device::launches());
        ControlFlow::Continue(())
    })?;
    Ok((text, launches))
}

/// The same text beside others, which begin with less of the prompt.
fn write_among_others(model: &Model, prompt: &[u32], options: &Options) -> cli::Result<Generation> {
    let shorter = |cut| prompt[..prompt.len().saturating_sub(cut).max(1)].to_vec();
    let prompts: Vec<Vec<u32>> = (0..BATCH).map(shorter).collect();
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let mut texts = generate::batched(model, &prompts, &vec![options.clone(); BATCH], go_on)?;
    Ok(texts.swap_remove(0))
}
