//! `cargo xtask guidance`: measures the effect of commonly recommended settings on the bundled
//! model.

use anyhow::Result;
use clap::Args;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;

use super::measure::Measure;
use super::metrics::{self, Sample, Sampled};
use super::{Corpus, progress_bar};

#[derive(Args)]
pub struct GuidanceArgs {
    /// How many stories to sample with each setting
    #[arg(long, default_value_t = 40)]
    stories: usize,
    /// Measure these values of top-k instead, at temperature 1, and no top-k at all
    #[arg(long, value_delimiter = ',', value_name = "K,...")]
    top_k: Vec<usize>,
}

/// Top-k with each of `ks`, and without.
fn top_k(ks: &[usize]) -> Vec<(String, SamplingParams)> {
    let of = |top_k| SamplingParams { top_k, ..SamplingParams::default() };
    let cut = ks.iter().map(|&k| (format!("k = {k}"), of(Some(k))));
    cut.chain([("all tokens".to_owned(), of(None))]).collect()
}

/// The recommended settings, in the order of the table.
fn recommended() -> Vec<(String, SamplingParams)> {
    let plain = SamplingParams::default();
    let temperature = |temperature| SamplingParams { temperature, ..plain.clone() };
    let repetition = |repetition_penalty| SamplingParams { repetition_penalty, ..temperature(0.8) };
    let settings = vec![
        ("T = 0 (greedy)", temperature(0.0)),
        ("T = 0.2", temperature(0.2)),
        ("T = 0.5", temperature(0.5)),
        ("T = 0.8", temperature(0.8)),
        ("T = 1", plain.clone()),
        ("T = 1.2", temperature(1.2)),
        ("T = 1.5", temperature(1.5)),
        ("T = 2", temperature(2.0)),
        ("T = 1, top-k 5", SamplingParams { top_k: Some(5), ..plain.clone() }),
        ("T = 1, top-k 40", SamplingParams { top_k: Some(40), ..plain.clone() }),
        ("T = 1, top-p 0.5", SamplingParams { top_p: Some(0.5), ..plain.clone() }),
        ("T = 1, top-p 0.95", SamplingParams { top_p: Some(0.95), ..plain.clone() }),
        ("T = 0.8, top-p 0.95", SamplingParams { top_p: Some(0.95), ..temperature(0.8) }),
        ("T = 1, typical 0.95", SamplingParams { typical_p: Some(0.95), ..plain.clone() }),
        ("T = 1.5, min-p 0.1", SamplingParams { min_p: Some(0.1), ..temperature(1.5) }),
        ("T = 2, min-p 0.1", SamplingParams { min_p: Some(0.1), ..temperature(2.0) }),
        ("T = 0.8, repetition 1.1", repetition(1.1)),
        ("T = 0.8, repetition 1.3", repetition(1.3)),
    ];
    settings.into_iter().map(|(name, sampling)| (name.to_owned(), sampling)).collect()
}

pub fn run(args: &GuidanceArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = Pretrained::bundled(&device, Precision::F32)?;
    let settings = match args.top_k.as_slice() {
        [] => recommended(),
        ks => top_k(ks),
    };
    let bar = progress_bar(settings.len() * args.stories, "stories");

    println!("setting                   entropy   perplexity   end   sound   twice   shared");
    for (name, sampling) in settings {
        let measure = Measure::new(&pretrained, "", sampling)?;
        let seeds = (1..).take(args.stories);
        let samples: Vec<Sample> = bar
            .wrap_iter(seeds)
            .map(|seed| measure.sample(seed, &Corpus::unknown()))
            .collect::<Result<_>>()?;
        let Some(found) = Sampled::of(&samples) else {
            continue;
        };
        let shared = metrics::mean_overlap(samples.iter().map(|sample| sample.written.as_str()));
        bar.suspend(|| {
            println!(
                "{name:<24}{:>9.2}{:>13.2}{:>5.0}%{:>7.0}%{:>7.0}%{:>8.0}%",
                found.sampled_entropy.mean,
                found.perplexity,
                100.0 * found.ended,
                100.0 * found.all_four,
                100.0 * (1.0 - found.no_repeated_sentence),
                100.0 * shared.unwrap_or(f64::NAN),
            );
        });
    }
    bar.finish_and_clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_k_is_a_row_and_no_cut_is_the_last() {
        let rows = top_k(&[1, 40]);
        let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["k = 1", "k = 40", "all tokens"]);
        let ks: Vec<Option<usize>> = rows.iter().map(|(_, sampling)| sampling.top_k).collect();
        assert_eq!(ks, [Some(1), Some(40), None]);
        assert!(rows.iter().all(|(_, sampling)| sampling.temperature == 1.0));
    }
}
