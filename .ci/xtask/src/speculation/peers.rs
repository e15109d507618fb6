//! Prompt lookup beside that of llama.cpp's Python package.

use std::path::Path;

use anyhow::{Result, anyhow};
use slowburn::speculation::{DraftSource, Speculation};

use super::{MOST, Runs, SpeculationArgs, generate, texts};
use crate::bench::{Dtype, Measured, Phase, Process, Workload, python};

const SCRIPT: &str = "llama_cpp_lookup_peer.py";

pub fn run(args: &SpeculationArgs) -> Result<()> {
    let name = python::name(&args.python, SCRIPT).map_err(|reason| anyhow!(reason))?;
    let scratch = tempfile::tempdir()?;
    let start = |lookup: &str| {
        let script = (&*args.python, SCRIPT);
        let folder = Path::new("models/ember");
        let mut command = python::program(script, folder, Dtype::F32, args.threads, scratch.path());
        command.env("LOOKUP", lookup);
        Process::start(command)
    };
    let mut theirs = [start("")?, start(&MOST.to_string())?];
    let pretrained = texts::load(Dtype::F32, args.threads)?;
    let ways = [None, Some(Speculation::new(DraftSource::Lookup, MOST))];

    println!("| | | plain, tokens/s | lookup, tokens/s | ratio |");
    println!("|---|---|---:|---:|---:|");
    for text in ["told again", "most likely"] {
        let case = texts::case(&pretrained, text, 1)?;
        let new_tokens = case.options.max_tokens;
        let workload = Workload { prompt: case.prompts[0].clone(), new_tokens };
        let mut rows = [[(); 2]; 2].map(|row| row.map(|()| Runs::default()));
        for round in 0..=args.rounds {
            for way in 0..2 {
                let ours =
                    generate(&pretrained.model, &case, ways[way].clone(), &mut rows[0][way])?;
                let measured: Measured = theirs[way].generate(&workload)?;
                if round > 0 {
                    rows[0][way].rates.push(ours);
                    rows[1][way].rates.push(measured.rate(Phase::Decode, &workload));
                }
            }
        }
        for (engine, [plain, lookup]) in ["Slow Burn", &name].into_iter().zip(&rows) {
            let (before, with) = (plain.rate(), lookup.rate());
            println!(
                "| {text} | {engine} | {before:.0} | {with:.0} | {:.2} |",
                lookup.ratio(plain)
            );
        }
    }
    Ok(())
}
