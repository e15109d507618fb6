//! `cargo xtask eval --formats`: what is lost with fewer bits.

use std::path::Path;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use serde::Serialize;
use slowburn::device::{self, DeviceChoice, OpenDevice, Precision};
use slowburn::generate::{self, Divergence};
use slowburn::kernels::{Activations, KvFormat, Quantized, Rounding};
use slowburn::pretrained::Pretrained;
use slowburn::storage::{MatrixFormat, Storage};
use slowburn_examples::chart::{self, Axis, LineChart, Series};

use super::measure::Measure;
use super::metrics::Sampled;
use super::{Corpus, EvalArgs, progress_bar};
use crate::quantization::folder;

/// The embedding's formats, besides the usual one: int8 where the layers are quantized.
const EMBEDDING_F32: MatrixFormat = MatrixFormat::Dense(Precision::F32);
const EMBEDDING_INT4: MatrixFormat = MatrixFormat::Quantized(Quantized::Int4);

/// How a model is stored.
struct Format {
    name: &'static str,
    storage: Storage,
    kv: KvFormat,
}

/// A line of the table.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    /// The memory of the weights, and of the keys and values of 32 positions.
    bytes: usize,
    block_bytes: usize,
    /// The held-out perplexity, the mean KL divergence from f32 in nats, and the share of equal
    /// greedy tokens.
    perplexity: f64,
    kl: f64,
    same_greedy: f64,
    /// The share of sampled stories that end and pass all three rules of the corpus.
    sound: f64,
}

fn formats() -> Vec<Format> {
    let plain = Storage::from(Precision::F32);
    let quantized = |layers| Storage { layers: Some(layers), ..plain };
    let squares = |storage| Storage { rounding: Rounding::LeastSquares, ..storage };
    let rounded = |storage| Storage { activations: Activations::Int8, ..storage };
    let bf16 = Storage::from(Precision::Bf16);
    let in_bf16 = Storage { activations: Activations::Bf16, ..bf16 };
    let embedding_f32 = |storage| Storage { embedding: Some(EMBEDDING_F32), ..storage };
    let embedding_int4 = |storage| Storage { embedding: Some(EMBEDDING_INT4), ..storage };
    let (int8, int4) = (quantized(Quantized::Int8), quantized(Quantized::Int4));
    let weights = [
        ("f32", plain),
        ("f16", Storage::from(Precision::F16)),
        ("bf16", bf16),
        ("int8", int8),
        ("int8, least squares", squares(int8)),
        ("int8, embedding f32", embedding_f32(int8)),
        ("int4", int4),
        ("int4, least squares", squares(int4)),
        ("int4, embedding f32", embedding_f32(int4)),
        ("int4, embedding f32, least squares", embedding_f32(squares(int4))),
        ("int4, embedding int4", embedding_int4(int4)),
        ("int4, embedding int4, least squares", embedding_int4(squares(int4))),
        ("bf16, activations bf16", in_bf16),
        ("int8, activations int8", rounded(int8)),
        ("int4, activations int8", rounded(int4)),
    ];
    let weights = weights.map(|(name, storage)| Format { name, storage, kv: KvFormat::F32 });
    let caches = [
        ("f32, KV cache f16", KvFormat::F16),
        ("f32, KV cache int8", KvFormat::Int8),
    ];
    let caches = caches.map(|(name, kv)| Format { name, storage: plain, kv });
    weights.into_iter().chain(caches).collect()
}

pub fn run(args: &EvalArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let load = |format: &Format| load(args, &device, format);
    let formats = formats();
    let reference = load(formats.first().context("no formats")?)?;
    let corpus = Corpus::tell(args);
    let mut rows = Vec::new();
    for format in &formats {
        let pretrained = load(format)?;
        let bar = progress_bar(corpus.unseen.len() + args.stories, format.name);
        let divergence = divergence(&reference, &pretrained, &corpus, &bar)?;
        let measure = Measure::new(&pretrained, &args.prompt, args.sampling())?;
        let seeds = (args.first_seed..).take(args.stories);
        let samples = bar.wrap_iter(seeds).map(|seed| measure.sample(seed, &corpus));
        let samples = Sampled::of(&samples.collect::<Result<Vec<_>>>()?);
        bar.finish_and_clear();
        rows.push(Row {
            name: format.name,
            bytes: pretrained.model.bytes(),
            block_bytes: pretrained.model.kv_pool().block_bytes(),
            perplexity: divergence.perplexity(),
            kl: divergence.mean_kl(),
            same_greedy: divergence.same_greedy_share(),
            sound: samples.map_or(f64::NAN, |samples| samples.all_four),
        });
    }
    if let Some(path) = &args.json {
        std::fs::write(path, serde_json::to_string_pretty(&rows)? + "\n")
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &args.chart {
        draw(path, &rows, &formats)?;
    }
    print!("{}", table(args, &rows));
    Ok(())
}

/// What is lost against the bytes of the weights, a line for each format of the embedding.
fn draw(path: &Path, rows: &[Row], formats: &[Format]) -> chart::Result<()> {
    let weights = rows.iter().zip(formats).filter(|(_, format)| {
        format.kv == KvFormat::F32 && format.storage.activations == Activations::F32
    });
    let chart = |label: &str, value: fn(&Row) -> f64| {
        let of = |is_shown: fn(&Storage) -> bool| {
            let shown = weights.clone().filter(move |(_, format)| is_shown(&format.storage));
            shown.map(move |(row, _)| (row.bytes as f64 / f64::from(1 << 20), value(row)))
        };
        LineChart {
            x: Axis::linear("MiB of weights"),
            y: Axis::linear(label),
            series: vec![
                Series::new("embedding as usual", of(|storage| storage.embedding.is_none())),
                Series::new("in f32", of(|storage| storage.embedding == Some(EMBEDDING_F32))),
                Series::new("in int4", of(|storage| storage.embedding == Some(EMBEDDING_INT4))),
            ],
        }
    };
    let charts = [
        chart("perplexity of held-out stories", |row| row.perplexity),
        chart("KL from f32, nats per token", |row| row.kl),
    ];
    chart::lines(path, "Fewer bits", &charts)
}

/// How far a model is from the reference over the held-out stories.
pub(super) fn divergence(
    reference: &Pretrained,
    pretrained: &Pretrained,
    corpus: &Corpus,
    bar: &ProgressBar,
) -> Result<Divergence> {
    let mut divergence = Divergence::default();
    for story in &corpus.unseen {
        bar.inc(1);
        let mut ids = pretrained.prompt_ids("")?;
        ids.extend(pretrained.tokenizer.encode(&story.text)?);
        if ids.len() <= pretrained.model.config().context_length {
            divergence.add(&generate::divergence(&reference.model, &pretrained.model, &ids)?);
        }
    }
    Ok(divergence)
}

fn load(args: &EvalArgs, device: &OpenDevice, format: &Format) -> Result<Pretrained> {
    let mut pretrained = Pretrained::load(&folder(&args.model), device, format.storage)?;
    pretrained.model = pretrained.model.with_kv_format(format.kv)?;
    Ok(pretrained)
}

fn table(args: &EvalArgs, rows: &[Row]) -> String {
    let mut lines = vec![
        "| stored as | weights, KiB | a KV block, KiB | perplexity | KL from f32, nats | same greedy | sound stories |"
            .to_owned(),
        "|---|--:|--:|--:|--:|--:|--:|".to_owned(),
    ];
    for row in rows {
        lines.push(format!(
            "| {} | {:.0} | {:.1} | {:.4} | {:.6} | {:.1}% | {:.0}% |",
            row.name,
            row.bytes as f64 / 1024.0,
            row.block_bytes as f64 / 1024.0,
            row.perplexity,
            row.kl,
            100.0 * row.same_greedy,
            100.0 * row.sound,
        ));
    }
    format!(
        "{}\n\n{} held-out stories, {} sampled at temperature {} and top-p {}.\n",
        lines.join("\n"),
        args.held_out,
        args.stories,
        args.temperature,
        args.top_p
    )
}
