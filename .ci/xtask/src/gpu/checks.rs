//! Whether the card computes what it must: the logits of the fixtures, and the same logits however they
//! are computed.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Result, bail};
use slowburn::device::{OpenDevice, Precision};
use slowburn::generate::{Batch, Generation, Options};
use slowburn::model::{Input, Logits, Model};
use slowburn::pretrained::Pretrained;

use super::budget::Budget;
use crate::bench::{Workload, greedy};
use crate::parity::{self, Reference, farthest};

/// The tokens of the texts of an engine.
const PROMPT_TOKENS: usize = 40;
const NEW_TOKENS: usize = 40;

/// One fixture of each family, which come first.
const FAMILIES: [&str; 7] = [
    "llama-gqa",
    "qwen3",
    "gemma3",
    "phi3",
    "smollm3",
    "mixtral",
    "gpt2",
];

/// The distances of the fixture models from transformers, as a Markdown table: each as a share of the
/// largest logit of a position; with weights in 16 bits those of whole prompts. `quick`: one model of each family.
pub fn parity(device: &OpenDevice, fixtures: &Path, quick: bool, budget: Budget) -> Result<String> {
    let mut table = "| model | whole | cached | chunks of 1 | of 3 | of 8 | greedy tokens | in f16 | in bf16 |\n\
                     |---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    let mut models: Vec<_> = parity::model_folders(fixtures)?
        .into_iter()
        .map(|folder| {
            (folder.file_name().unwrap_or_default().to_string_lossy().into_owned(), folder)
        })
        .filter(|(name, _)| !quick || FAMILIES.contains(&name.as_str()))
        .collect();
    models.sort_by_key(|(name, _)| {
        FAMILIES.iter().position(|family| family == name).unwrap_or(FAMILIES.len())
    });
    for (name, folder) in models {
        if budget.is_over() {
            table += &format!("| {name} | not in time | | | | | | | |\n");
            continue;
        }
        let model = Pretrained::load(&folder, device, Precision::F32)?.model;
        let reference = Reference::read(&folder)?;
        let row = reference.compare(&model)?;
        let in_half = |precision| -> Result<String> {
            if device.check(precision).is_err() {
                return Ok("not supported".to_owned());
            }
            let model = Pretrained::load(&folder, device, precision)?.model;
            Ok(format!("{:.1e}", reference.farthest_of_whole(&model)?))
        };
        let [f16, bf16] = [in_half(Precision::F16)?, in_half(Precision::Bf16)?];
        let [one, three, eight] = row.chunked;
        table += &format!(
            "| {name} | {:.1e} | {:.1e} | {one:.1e} | {three:.1e} | {eight:.1e} | {} of {} | {f16} | {bf16} |\n",
            row.naive, row.cached, row.same, row.tokens
        );
    }
    Ok(table)
}

/// One way to compute some logits, and how they are beside those of another.
struct Equivalence {
    what: &'static str,
    result: String,
}

impl Equivalence {
    fn of_rows(what: &'static str, found: &[Vec<f32>], reference: &[Vec<f32>]) -> Self {
        let result = if found == reference {
            "same bits".to_owned()
        } else {
            format!("{:.1e}", farthest(found, reference))
        };
        Self { what, result }
    }

    /// Of texts, the hash of all logits is known.
    fn of_texts(what: &'static str, found: &[Generation], reference: &Generation) -> Self {
        let result = if found.iter().all(|text| text.logits_hash == reference.logits_hash) {
            "same bits"
        } else if found.iter().all(|text| text.ids == reference.ids) {
            "same text"
        } else {
            "another text"
        };
        Self { what, result: result.to_owned() }
    }
}

/// How the logits of the bundled model differ by the way in which they are computed: by default, and with
/// the products that `--batch-invariant` takes, which differ only for weights of 16 bits. Then those of a model in
/// `wide`, whose heads are large enough for attention on tensor cores.
pub fn equivalences(device: &OpenDevice, wide: Option<&Path>, budget: Budget) -> Result<String> {
    let invariant = OpenDevice { batch_invariant: true, ..device.clone() };
    let bundled =
        |device, precision| -> Result<Model> { Ok(Pretrained::bundled(device, precision)?.model) };
    let mut columns = vec![
        ("f32", all_of(bundled(device, Precision::F32)?, budget)?),
        ("f16", all_of(bundled(device, Precision::F16)?, budget)?),
        (
            "f16 with `--batch-invariant`",
            all_of(bundled(&invariant, Precision::F16)?, budget)?,
        ),
    ];
    if let Some(folder) = wide {
        let model = Pretrained::load(folder, device, Precision::F16)?.model;
        columns.push(("f16, heads of 64", all_of(model, budget)?));
    }
    let line = |first: &str, cells: Vec<&str>| format!("| {first} | {} |\n", cells.join(" | "));
    let mut table = line("computed otherwise", columns.iter().map(|(name, _)| *name).collect());
    table += &line("---", vec!["---"; columns.len()]);
    let rows = columns.iter().map(|(_, found)| found.len()).min().unwrap_or(0);
    for row in 0..rows {
        let results = columns.iter().map(|(_, found)| found[row].result.as_str());
        table += &line(columns[0].1[row].what, results.collect());
    }
    Ok(table)
}

fn all_of(model: Model, budget: Budget) -> Result<Vec<Equivalence>> {
    let vocab = model.config().vocab_size;
    let text = |tokens: usize| Workload::new(tokens, 1, vocab).prompt;
    let mut found = vec![
        batch(&model, [text(70), text(33), text(5)])?,
        chunks("in chunks of 1, and all at once", &model, &text(33), 1)?,
        chunks("in chunks of 31", &model, &text(70), 31)?,
        chunks("in chunks of 32", &model, &text(70), 32)?,
        chunks("in chunks of 33", &model, &text(70), 33)?,
    ];
    if !budget.is_over() {
        found.extend(engine(model, &text(PROMPT_TOKENS))?);
    }
    Ok(found)
}

fn batch(model: &Model, texts: [Vec<u32>; 3]) -> Result<Equivalence> {
    let inputs = texts.iter().map(|text| Input::whole(text).with_logits(Logits::All));
    let together = model.forward(&mut inputs.collect::<Vec<_>>())?;
    let mut alone = Vec::new();
    for text in &texts {
        alone.extend(model.forward(&mut [Input::whole(text).with_logits(Logits::All)])?);
    }
    Ok(Equivalence::of_rows(
        "three texts in a batch, and each alone",
        &together,
        &alone,
    ))
}

fn chunks(what: &'static str, model: &Model, text: &[u32], size: usize) -> Result<Equivalence> {
    let whole = model.forward(&mut [Input::whole(text).with_logits(Logits::All)])?;
    let mut cache = model.new_cache(text.len())?;
    let mut rows = Vec::new();
    for chunk in text.chunks(size) {
        let input = Input::after(&mut cache, chunk).with_logits(Logits::All);
        rows.extend(model.forward(&mut [input])?);
    }
    Ok(Equivalence::of_rows(what, &rows, &whole))
}

/// Texts of an engine that shares blocks and preempts, and each alone.
fn engine(model: Model, text: &[u32]) -> Result<Vec<Equivalence>> {
    let expected = run(&model, &[text.to_vec()])?;
    let twice = run(&model, &[text.to_vec(), text.to_vec()])?;
    // One text after the other finds the blocks of the first.
    let mut batch = Batch::new(&model);
    let first = finish(&mut batch, &[text.to_vec()])?;
    let second = finish(&mut batch, &[text.to_vec()])?;
    let shared = [first, second].concat();
    drop(batch);
    // Each takes three blocks, of which the first is shared.
    let block = model.kv_pool().block_bytes();
    let model = model.with_kv_cache_bytes(4 * block);
    let preempted = run(&model, &[text.to_vec(), text.to_vec()])?;
    let [expected] = expected.as_slice() else {
        bail!("one text was asked for");
    };
    Ok(vec![
        Equivalence::of_texts("two texts of an engine, and one alone", &twice, expected),
        Equivalence::of_texts("after a hit in the prefix cache", &shared, expected),
        Equivalence::of_texts("preempted and computed again", &preempted, expected),
    ])
}

fn run(model: &Model, texts: &[Vec<u32>]) -> Result<Vec<Generation>> {
    finish(&mut Batch::new(model), texts)
}

fn finish(batch: &mut Batch<'_>, texts: &[Vec<u32>]) -> Result<Vec<Generation>> {
    let options = Options { hash_logits: true, ..greedy(NEW_TOKENS) };
    let options = vec![options; texts.len()];
    Ok(batch.run(texts, &options, &mut |_, _| ControlFlow::Continue(()))?)
}
