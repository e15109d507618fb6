//! Checks the arithmetic of the widgets against the library: same logits and settings, same tokens.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use slowburn::device::{self, DeviceChoice, OpenDevice, Precision};
use slowburn::generate::{self, Options};
use slowburn::model::Model;
use slowburn::model::pass::Pass;
use slowburn::model::{Input, Logits};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Sampler, SamplingParams, statistics};

use super::super::problem::Problem;
use super::{Chromium, page};
use crate::widget_data::OpenDistribution;

const FILE: &str = "book/widgets/arithmetic.js";
const SCRIPT: &str = include_str!("arithmetic.js");

/// The tolerance of a probability. The library computes in f32, JavaScript in f64.
const TOLERANCE: f64 = 1e-6;

/// The inputs of the browser.
#[derive(Serialize)]
struct Cases {
    distributions: Vec<Setting>,
    rows: Vec<Steps>,
    layouts: Vec<Layout>,
}

#[derive(Clone, Serialize)]
struct Setting {
    /// None for the widgets' own logits.
    logits: Option<Vec<f32>>,
    temperature: f32,
    k: Option<usize>,
    p: Option<f32>,
}

#[derive(Clone, Copy, Serialize)]
struct Steps {
    prompt: usize,
    output: usize,
}

#[derive(Clone, Serialize)]
struct Layout {
    lengths: Vec<usize>,
    kind: &'static str,
}

/// The results of the browser, in the order of the cases.
#[derive(Deserialize)]
struct Results {
    distributions: Vec<Distribution>,
    rows: Vec<Rows>,
    layouts: Vec<Cells>,
}

#[derive(Deserialize)]
struct Distribution {
    /// The ids and probabilities of the tokens that can be sampled.
    kept: Vec<(usize, f64)>,
    survivors: usize,
    entropy: f64,
    perplexity: f64,
    best: u32,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Rows {
    naive: Vec<usize>,
    cached: Vec<usize>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Cells {
    /// The position of each cell within its prompt, by rows; none for padding.
    positions: Vec<Vec<Option<usize>>>,
    /// The column of each prompt's last token.
    last: Vec<usize>,
    computed: usize,
    padding: usize,
}

/// Runs the script of the widgets.
pub fn check(chromium: &Chromium, root: &Path) -> Result<Vec<Problem>> {
    check_script(chromium, root, &fs::read_to_string(root.join(FILE))?)
}

fn check_script(chromium: &Chromium, root: &Path, arithmetic: &str) -> Result<Vec<Problem>> {
    let open = OpenDistribution::read(root)?;
    let cases = Cases { distributions: settings(), rows: steps(), layouts: layouts() };
    let logits = fs::read_to_string(root.join(OpenDistribution::FILE))?;
    let folder = tempfile::tempdir()?;
    let html = page("cases", &cases, &[arithmetic, &logits, SCRIPT])?;
    fs::write(folder.path().join("arithmetic.html"), html)?;
    let results: Results = chromium.run(folder.path(), "arithmetic.html")?;
    ensure!(
        results.distributions.len() == cases.distributions.len()
            && results.rows.len() == cases.rows.len()
            && results.layouts.len() == cases.layouts.len(),
        "the browser has left out cases"
    );

    let mut faults = Vec::new();
    for (setting, found) in cases.distributions.iter().zip(&results.distributions) {
        let logits = setting.logits.as_ref().unwrap_or(&open.logits);
        let Setting { temperature, k, p, .. } = *setting;
        let params =
            SamplingParams { temperature, top_k: k, top_p: p, ..SamplingParams::default() };
        let expected = Sampler::new(&params)?.distribution(logits, &[], &[])?;
        faults.extend(found.fault(&expected).map(|fault| {
            let size = logits.len();
            format!("{size} logits, temperature {temperature}, top-k {k:?}, top-p {p:?}: {fault}")
        }));
    }
    let device = device::open(DeviceChoice::Cpu)?;
    let pretrained = Pretrained::bundled(&device, Precision::F32)?;
    for (&steps, found) in cases.rows.iter().zip(&results.rows) {
        let expected = count_rows(&pretrained, steps)?;
        if *found != expected {
            let Steps { prompt, output } = steps;
            faults.push(format!(
                "{prompt} prompt and {output} new tokens: {found:?}, and the loops have {expected:?}"
            ));
        }
    }
    for (layout, found) in cases.layouts.iter().zip(&results.layouts) {
        let expected = layout.cells(&pretrained.model, &device)?;
        if *found != expected {
            let Layout { lengths, kind } = layout;
            faults.push(format!("{lengths:?} {kind}: {found:?} instead of {expected:?}"));
        }
    }
    eprintln!(
        "arithmetic: {} distributions, {} generations, {} layouts",
        cases.distributions.len(),
        cases.rows.len(),
        cases.layouts.len()
    );
    Ok(faults.into_iter().map(|fault| Problem::new(FILE, 1, fault)).collect())
}

impl Distribution {
    /// The difference from the library's distribution, if any.
    fn fault(&self, expected: &[f32]) -> Option<String> {
        let kept: Vec<usize> = self.kept.iter().map(|&(id, _)| id).collect();
        let ids = (0..expected.len()).filter(|&id| expected[id] > 0.0);
        let survivors = statistics::survivors(expected);
        if self.survivors != kept.len() {
            return Some(format!("{} survivors, and {} in the list", self.survivors, kept.len()));
        }
        // A probability below the range of f32 is 0 in the library only.
        let is_lost = |&(id, p): &(usize, f64)| expected[id] == 0.0 && p < 1e-36;
        if !self.kept.iter().filter(|kept| !is_lost(kept)).map(|&(id, _)| id).eq(ids) {
            return Some(format!("{} tokens are kept instead of {survivors}", kept.len()));
        }
        let differences = self.kept.iter().map(|&(id, p)| (p - f64::from(expected[id])).abs());
        let difference = differences.fold(0.0, f64::max);
        if difference > TOLERANCE {
            return Some(format!("a probability is off by {difference:e}"));
        }
        let (entropy, perplexity) =
            (statistics::entropy_bits(expected), statistics::effective_tokens(expected));
        if (self.entropy - entropy).abs() > 1e-5
            || (self.perplexity / perplexity - 1.0).abs() > 1e-5
        {
            let (found, other) = (self.entropy, self.perplexity);
            return Some(format!("entropy {found}, perplexity {other}: {entropy}, {perplexity}"));
        }
        let best = statistics::ranked(expected)[0].0;
        (self.best != best).then(|| format!("the best is {} instead of {best}", self.best))
    }
}

/// Many settings, on the widgets' logits and on logits with many ties.
fn settings() -> Vec<Setting> {
    let equal: Vec<f32> = (0..64_u16).map(|i| f32::from(i * 7 % 13) / 2.0).collect();
    let mut settings = Vec::new();
    // Their sums reach a p of 0.5 exactly, in every floating-point type.
    let eighths = vec![1.0; 8];
    for logits in [None, Some(equal), Some(eighths)] {
        for temperature in [0.1, 0.35, 0.7, 1.0, 1.4, 2.0] {
            for k in [None, Some(1), Some(2), Some(5), Some(12), Some(40)] {
                for p in [None, Some(0.1), Some(0.5), Some(0.7), Some(0.9), Some(0.97)] {
                    settings.push(Setting { logits: logits.clone(), temperature, k, p });
                }
            }
        }
    }
    settings
}

fn steps() -> Vec<Steps> {
    [(1, 1), (1, 9), (5, 4), (7, 20), (30, 1)]
        .map(|(prompt, output)| Steps { prompt, output })
        .to_vec()
}

fn layouts() -> Vec<Layout> {
    let lengths = [vec![7, 2, 4, 3], vec![1, 1], vec![12, 1, 12, 5], vec![6]];
    let kinds = ["right", "left", "end to end"];
    let with = |lengths: Vec<usize>| kinds.map(|kind| Layout { lengths: lengths.clone(), kind });
    lengths.into_iter().flat_map(with).collect()
}

/// The number of rows that the library computes at each step of both loops.
fn count_rows(pretrained: &Pretrained, steps: Steps) -> Result<Rows> {
    let model = &pretrained.model;
    let prompt: Vec<u32> = (10..).take(steps.prompt).collect();
    let options = Options {
        max_tokens: steps.output,
        ignore_eos: true,
        ..Options::default()
    };
    let go_on = &mut |_: &generate::Chosen<'_>| std::ops::ControlFlow::Continue(());
    let generated = generate::cached(model, &prompt, &options, go_on)?.ids;
    ensure!(
        generated == generate::naive(model, &prompt, &options, go_on)?.ids,
        "the loops differ"
    );
    let mut cache = model.new_cache(prompt.len() + generated.len())?;
    let mut rows = Rows { naive: Vec::new(), cached: Vec::new() };
    for step in 0..generated.len() {
        let so_far = [&prompt[..], &generated[..step]].concat();
        rows.naive
            .push(model.forward(&mut [Input::whole(&so_far).with_logits(Logits::All)])?.len());
        let before = cache.length();
        model.forward(&mut [Input::after(&mut cache, &so_far[before..])])?.remove(0);
        rows.cached.push(cache.length() - before);
    }
    Ok(rows)
}

impl Layout {
    /// The expected cells of this layout.
    fn cells(&self, model: &Model, device: &OpenDevice) -> Result<Cells> {
        let Self { lengths, kind } = self;
        let tokens: usize = lengths.iter().sum();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        if *kind == "end to end" {
            return Ok(Cells {
                positions: vec![end_to_end(model, device, lengths)?],
                last: lengths
                    .iter()
                    .scan(0, |end, length| {
                        *end += length;
                        Some(*end - 1)
                    })
                    .collect(),
                computed: tokens,
                padding: 0,
            });
        }
        let row = |&length: &usize| {
            let padding = vec![None; longest - length];
            let tokens: Vec<_> = (0..length).map(Some).collect();
            match *kind {
                "right" => [tokens, padding].concat(),
                _ => [padding, tokens].concat(),
            }
        };
        let last = |&length: &usize| {
            if *kind == "right" {
                length - 1
            } else {
                longest - 1
            }
        };
        Ok(Cells {
            positions: lengths.iter().map(row).collect(),
            last: lengths.iter().map(last).collect(),
            computed: longest * lengths.len(),
            padding: longest * lengths.len() - tokens,
        })
    }
}

/// The positions that the library assigns to the columns of a batch.
fn end_to_end(model: &Model, device: &OpenDevice, lengths: &[usize]) -> Result<Vec<Option<usize>>> {
    let caches = lengths.iter().map(|&length| model.new_cache(length));
    let mut caches = caches.collect::<Result<Vec<_>, _>>()?;
    let mut pass = Pass::new(&device.device);
    for (length, cache) in lengths.iter().zip(&mut caches) {
        pass.push(*length, Some(cache));
    }
    Ok(pass.positions().into_iter().map(Some).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_arithmetic_is_found() {
        let Ok(chromium) = Chromium::find(None) else {
            eprintln!("not checked: there is no Chromium");
            return;
        };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root");
        let right = fs::read_to_string(root.join(FILE)).expect("the script");
        assert!(check_script(&chromium, root, &right).expect("a result").is_empty());
        for (part, wrong) in [
            ("mass >= p", "mass > p"),
            ("score < kth", "score <= kth"),
            ("|| b - a", "|| a - b"),
            ("(score - best) / temperature", "(score - best) * temperature"),
            ("Math.log2", "Math.log"),
            ("promptTokens + step", "promptTokens + step + 1"),
            ("promptTokens : 1", "promptTokens : 2"),
            ("columns.length - length", "0"),
            ("lengths[prompt] - 1", "lengths[prompt] - 2"),
        ] {
            assert!(right.contains(part), "{part}");
            let script = right.replacen(part, wrong, 1);
            let found = check_script(&chromium, root, &script).expect("a result");
            assert!(!found.is_empty(), "{wrong} is not found");
        }
    }
}
