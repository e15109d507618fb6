//! Kernels: where the time of a pass goes, and how near each layer is to the machine's limits.
//!
//! cargo run --example 10_kernels
//! cargo run --example 10_kernels -- --bits

mod args;
mod bits;
mod layers;

use std::ops::ControlFlow;
use std::process::ExitCode;

use clap::Parser;
use slowburn::generate::{self, Options};
use slowburn::kernels::Roof;
use slowburn::model::Input;
use slowburn::pretrained::Pretrained;
use slowburn_examples::cli::{self, SimdChoice};

use args::KernelArgs;
use bits::{SameBits, bits};
use layers::{LayerTimes, layer_times};

/// Decode steps that are timed, and tokens of the text whose bits are compared.
const STEPS: usize = 20;

/// Times the layers of a prefill and of a decode step
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    kernels: KernelArgs,

    /// Compare sums in several orders instead, and the bits of one text computed in several ways
    #[arg(long)]
    bits: bool,
}

fn main() -> ExitCode {
    let Cli { kernels, bits } = cli::parse();
    cli::exit(if bits {
        compare_bits(&kernels)
    } else {
        time_layers(&kernels)
    })
}

fn time_layers(args: &KernelArgs) -> cli::Result<()> {
    let pretrained = args.load_with(|_| {})?;
    let model = &pretrained.model;
    let ids = args.ids(&pretrained, STEPS)?;
    let prompt = &ids[..args.tokens];
    let roof = model.cpu().enter(|| Roof::measure(model.bytes()));

    let mut cache = model.new_cache(ids.len())?;
    let prefill = LayerTimes::fastest(5, || {
        cache = model.new_cache(ids.len())?;
        model.forward(&mut [Input::after(&mut cache, prompt)])
    })?;
    let decode = LayerTimes::fastest(STEPS, || {
        let next = cache.length();
        model.forward(&mut [Input::after(&mut cache, &ids[next..=next])])
    })?;
    layer_times(args, model, &roof, &[("prefill", prefill), ("decode", decode)])
}

fn compare_bits(args: &KernelArgs) -> cli::Result<()> {
    let usual = args.load_with(|_| {})?;
    let ids = args.ids(&usual, 0)?;
    let options = Options {
        max_tokens: STEPS,
        ignore_eos: true,
        hash_logits: true,
        ..Options::default()
    };
    let alone = |Pretrained { model, .. }: &Pretrained, chunk| {
        let options = Options { chunk, ..options.clone() };
        generate::cached(model, &ids, &options, &mut |_| ControlFlow::Continue(()))
    };
    // The others are shorter, and their prompts end at other tokens.
    let crowd: Vec<_> =
        (0..8).map(|cut| ids[..ids.len().saturating_sub(cut).max(1)].to_vec()).collect();
    let batch = generate::batched(&usual.model, &crowd, &vec![options.clone(); 8], &mut |_, _| {
        ControlFlow::Continue(())
    })?;
    let one_thread = args.load_with(|model| model.threads = Some(1))?;
    let no_simd = args.load_with(|model| model.simd = SimdChoice::Scalar)?;
    let ways = [
        SameBits::new("alone", &alone(&usual, options.chunk)?),
        SameBits::new("in a batch of 8", &batch[0]),
        SameBits::new("prompt in chunks of 7", &alone(&usual, 7)?),
        SameBits::new("on one thread", &alone(&one_thread, options.chunk)?),
        SameBits::new("without SIMD", &alone(&no_simd, options.chunk)?),
    ];
    bits(args, &usual.model, &ways)
}
