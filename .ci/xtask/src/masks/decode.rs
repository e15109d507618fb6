//! A text of the bundled model with a constraint and without.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::Result;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, Options};
use slowburn::grammar::Grammar;
use slowburn::pretrained::Pretrained;

use crate::bench::median;

const TOKENS: usize = 200;

/// Measures both in turns: the median of the rounds, and of their ratios.
pub fn run(rounds: usize) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = Pretrained::bundled(&device, Precision::F32)?;
    let prompt = pretrained.prompt_ids("Once upon a time")?;
    // The same text: everything is allowed, and each step pays for it.
    let anything = pretrained.constraint(&Grammar::Regex("(?s:.)*".to_owned()))?;
    let options = [None, Some(anything)].map(|constraint| Options {
        max_tokens: TOKENS,
        ignore_eos: true,
        constraint,
        ..Options::default()
    });
    let mut rates = [Vec::new(), Vec::new()];
    for round in 0..=rounds {
        for (options, rates) in options.iter().zip(&mut rates) {
            let mut first = None;
            let generation = generate::cached(&pretrained.model, &prompt, options, &mut |_| {
                first.get_or_insert_with(Instant::now);
                ControlFlow::Continue(())
            })?;
            if let Some(first) = first.filter(|_| round > 0) {
                rates.push((generation.ids.len() - 1) as f64 / first.elapsed().as_secs_f64());
            }
        }
    }
    let ratio = median(rates[0].iter().zip(&rates[1]).map(|(plain, with)| with / plain));
    let [plain, with] = rates.map(|rates| median(rates.into_iter()));
    println!("\n| ember | tokens/s |\n|---|---:|");
    println!("| no constraint | {plain:.0} |");
    println!("| anything | {with:.0} |");
    println!("\nratio {ratio:.3}");
    Ok(())
}
