//! The output of `12_quantized`.

use std::fmt::Write;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use slowburn::device::Precision;
use slowburn::generate::Divergence;
use slowburn::kernels::{Activations, KvFormat, Quantized};
use slowburn::pretrained::Pretrained;
use slowburn_flags::{Dtype, bytes};

use slowburn_examples::cli::{BOLD, Error, GenerateArgs, Result, print, whole};

/// The flags of `12_quantized`.
#[derive(Debug, Clone, Args)]
pub struct QuantizedArgs {
    #[command(flatten)]
    pub generate: GenerateArgs,

    /// The number of texts to compare the distributions over, sampled from the model in f32
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = whole::<usize>(1..))]
    pub texts: usize,
}

impl QuantizedArgs {
    /// Loads the requested model with its weights in `format`.
    ///
    /// # Errors
    /// As [`GenerateArgs::load`]; a format that the command line chooses.
    pub fn load(&self, format: WeightFormat) -> Result<Pretrained> {
        let mut args = self.generate.clone();
        if args.model.dtype != Dtype::Auto || args.model.quantize.is_some() {
            return Err(Error::AllFormats);
        }
        let (precision, quantized) = match format {
            WeightFormat::F32 => (Precision::F32, None),
            WeightFormat::F16 => (Precision::F16, None),
            WeightFormat::Int8 => (Precision::F32, Some(Quantized::Int8)),
            WeightFormat::Int4 => (Precision::F32, Some(Quantized::Int4)),
        };
        (args.model.dtype, args.model.quantize) = (Dtype::Of(precision), quantized);
        args.model.quantize_embedding = quantized.and(self.generate.model.quantize_embedding);
        if quantized.is_none() {
            args.model.activations = Activations::F32;
        }
        // Only the weights differ.
        args.model.kv_dtype = args.model.kv_dtype.or(Some(KvFormat::F32));
        args.load().map(|(pretrained, _)| pretrained)
    }
}

/// A format of weights that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightFormat {
    F32,
    F16,
    Int8,
    Int4,
}

impl WeightFormat {
    /// All of them, widest first.
    pub const ALL: [Self; 4] = [Self::F32, Self::F16, Self::Int8, Self::Int4];

    fn name(self) -> &'static str {
        match self {
            Self::F32 => Precision::F32.name(),
            Self::F16 => Precision::F16.name(),
            Self::Int8 => Quantized::Int8.name(),
            Self::Int4 => Quantized::Int4.name(),
        }
    }
}

/// What the model does with its weights in one format.
#[derive(Debug)]
pub struct FormatReport {
    pub format: WeightFormat,
    /// The memory of the weights, in bytes.
    pub bytes: usize,
    /// From the model in f32.
    pub divergence: Divergence,
    pub story: Story,
}

/// A text, and how long the model took for it.
#[derive(Debug)]
pub struct Story {
    pub text: String,
    pub ids: Vec<u32>,
    pub time: Duration,
}

impl Story {
    fn tokens_per_second(&self) -> f64 {
        self.ids.len() as f64 / self.time.as_secs_f64()
    }

    /// How many tokens are those of another story, up to the first that is not.
    fn tokens_as(&self, other: &Self) -> usize {
        self.ids.iter().zip(&other.ids).take_while(|(a, b)| a == b).count()
    }
}

/// Prints a line for each format, and the texts side by side.
///
/// # Errors
/// A closed standard output.
pub fn quantized(args: &QuantizedArgs, reports: &[FormatReport]) -> Result<()> {
    let objects: Vec<_> = reports
        .iter()
        .map(|report| {
            json!({
                "format": report.format.name(),
                "bytes": report.bytes,
                "tokens_per_second": report.story.tokens_per_second(),
                "perplexity": report.divergence.perplexity(),
                "kl_nats": report.divergence.mean_kl(),
                "same_greedy": report.divergence.same_greedy_share(),
                "text": report.story.text,
            })
        })
        .collect();
    print(args.generate.json, &json!({ "formats": objects }), &text(args, reports))
}

fn text(args: &QuantizedArgs, reports: &[FormatReport]) -> String {
    let mut out = format!(
        "{:<8}{:>11}{:>8}{:>12}{:>13}{:>12}{:>15}\n",
        "weights", "bytes", "of f32", "tokens/s", "perplexity", "KL, nats", "same greedy"
    );
    let Some(widest) = reports.first() else {
        return out;
    };
    for report in reports {
        let _ = writeln!(
            out,
            "{:<8}{:>11}{:>7.0}%{:>12.0}{:>13.3}{:>12.6}{:>14.1}%",
            report.format.name(),
            bytes(report.bytes),
            100.0 * report.bytes as f64 / widest.bytes as f64,
            report.story.tokens_per_second(),
            report.divergence.perplexity(),
            report.divergence.mean_kl(),
            100.0 * report.divergence.same_greedy_share(),
        );
    }
    let _ = writeln!(
        out,
        "\nPerplexity, KL divergence from f32 and the share of equal greedy tokens: over\n{} tokens of {} texts that the model wrote in f32.\n",
        widest.divergence.tokens, args.texts
    );
    for report in reports {
        let name = report.format.name();
        let same = report.story.tokens_as(&widest.story);
        let text = report.story.text.replace('\n', " ");
        let is_widest = report.format == widest.format;
        let is_same = same == widest.story.ids.len() && same == report.story.ids.len();
        let text = match (is_widest, is_same) {
            (true, _) => format!(": {}", text.trim()),
            (false, true) => ": the same text as in f32".to_owned(),
            (false, false) => format!(" (the same as in f32 for {same} tokens): {}", text.trim()),
        };
        let _ = writeln!(out, "{BOLD}{name}{BOLD:#}{text}\n");
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
