//! `cargo xtask greedy-loops`: finds the prompts on which greedy decoding falls into a loop.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, FinishReason, Generation, Options, Repetition};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

#[derive(Args)]
pub struct GreedyLoopsArgs {
    /// The model folder; without it, the model inside the crate
    #[arg(long)]
    model: Option<PathBuf>,
    /// How many new tokens a text may have
    #[arg(long, default_value_t = 400)]
    max_tokens: usize,
}

/// Beginnings of stories, texts from their world but from no story, and unrelated texts, several of
/// which invite repetition.
const BEGINNINGS: &str = include_str!("greedy_loops.txt");

/// How a greedy generation ended.
enum Ending {
    /// With the end token.
    ByItself,
    /// In an endless repetition of a block of tokens.
    Loop(Repetition),
    /// At the token limit, without a repetition.
    CutOff,
}

pub fn run(args: &GreedyLoopsArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = match &args.model {
        None => Pretrained::bundled(&device, Precision::F32)?,
        Some(folder) => Pretrained::load(folder, &device, Precision::F32)?,
    };
    let options = Options {
        max_tokens: args.max_tokens,
        sampling: SamplingParams { temperature: 0.0, ..SamplingParams::default() },
        ..Options::default()
    };

    let (mut ended, mut loops, mut cut_off) = (0, 0, 0);
    println!("beginning                            new tokens   ended in");
    for beginning in BEGINNINGS.lines() {
        let prompt = pretrained.prompt_ids(beginning)?;
        let found = generate::cached(&pretrained.model, &prompt, &options, &mut |_| {
            ControlFlow::Continue(())
        })?;
        let how = match ending(&found) {
            Ending::ByItself => {
                ended += 1;
                "an end".to_owned()
            }
            Ending::Loop(Repetition { start, period }) => {
                loops += 1;
                let block = pretrained.tokenizer.decode(&found.ids[start..start + period])?;
                format!("a loop of {period}: {}", shortened(&block))
            }
            Ending::CutOff => {
                cut_off += 1;
                "no loop yet".to_owned()
            }
        };
        println!("{beginning:<37}{:>10}   {how}", found.ids.len());
    }
    println!(
        "\n{} beginnings: {ended} texts came to an end, {loops} ran into a loop, {cut_off} neither.",
        ended + loops + cut_off
    );
    Ok(())
}

fn ending(found: &Generation) -> Ending {
    match (&found.finish_reason, generate::repetition(&found.ids)) {
        (FinishReason::Eos, _) => Ending::ByItself,
        (_, Some(repetition)) => Ending::Loop(repetition),
        (_, None) => Ending::CutOff,
    }
}

/// The start of a block that is too long for a line.
fn shortened(block: &str) -> String {
    const LONGEST: usize = 24;
    let quoted = format!("{block:?}");
    if quoted.chars().count() > LONGEST {
        quoted.chars().take(LONGEST).chain("…".chars()).collect()
    } else {
        quoted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generation(ids: &[u32], finish_reason: FinishReason) -> Generation {
        Generation {
            ids: ids.to_vec(),
            finish_reason,
            logprobs: Vec::new(),
            prompt_logprobs: Vec::new(),
            kv_cache_bytes: 0,
            cached_tokens: 0,
            preemptions: 0,
            drafted: 0,
            accepted: 0,
            logits_hash: None,
        }
    }

    #[test]
    fn only_a_text_without_an_end_is_a_loop() {
        let ids = [5, 1, 2, 1, 2, 1, 2];
        let looped = ending(&generation(&ids, FinishReason::Length));
        assert!(matches!(looped, Ending::Loop(Repetition { start: 1, period: 2 })));
        assert!(matches!(ending(&generation(&ids, FinishReason::Eos)), Ending::ByItself));
        assert!(matches!(ending(&generation(&ids[..5], FinishReason::Length)), Ending::CutOff));
    }

    #[test]
    fn a_long_block_is_cut() {
        assert_eq!(shortened(" a"), "\" a\"");
        let long = shortened(&"word ".repeat(9));
        assert_eq!((long.chars().count(), long.ends_with('…')), (25, true));
    }

    #[test]
    fn the_beginnings_differ() {
        let different: std::collections::HashSet<_> = BEGINNINGS.lines().collect();
        assert_eq!(different.len(), BEGINNINGS.lines().count());
    }
}
