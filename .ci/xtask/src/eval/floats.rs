//! `cargo xtask eval --floats`: integers and floating point of 8 and 4 bits, in the matrices of the layers.
//!
//! A model in floating point is written as it would be published, and loaded as any such folder.

use anyhow::Result;
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::kernels::{GROUP, Quantized, Rounding};
use slowburn::pretrained::Pretrained;
use slowburn::storage::{MatrixFormat, Storage};

use super::formats::divergence;
use super::{Corpus, EvalArgs, progress_bar};
use crate::float_checkpoint::FloatFormat;
use crate::quantization::{self, Error, Matrix};

/// How the matrices are stored.
#[derive(Clone, Copy)]
enum Format {
    Integers(Quantized),
    Floats(FloatFormat),
}

const FORMATS: [(&str, Format); 8] = [
    ("int8, groups of 32", Format::Integers(Quantized::Int8)),
    ("FP8, no scale", Format::Floats(FloatFormat::Fp8Unscaled)),
    ("FP8, a scale per matrix", Format::Floats(FloatFormat::Fp8Matrix)),
    ("FP8, a scale per output", Format::Floats(FloatFormat::Fp8Output)),
    ("FP8, blocks of 128 by 128", Format::Floats(FloatFormat::Fp8Blocks)),
    ("int4, groups of 32", Format::Integers(Quantized::Int4)),
    ("NVFP4, groups of 16", Format::Floats(FloatFormat::Nvfp4)),
    ("MXFP4, groups of 32", Format::Floats(FloatFormat::Mxfp4)),
];

pub fn run(args: &EvalArgs) -> Result<()> {
    let device = device::open(DeviceChoice::Cpu)?;
    let plain = Storage::from(Precision::F32);
    let folder = quantization::folder(&args.model);
    let reference = Pretrained::load(&folder, &device, plain)?;
    let matrices = quantization::matrices(&folder)?;
    let corpus = Corpus::tell(args);
    println!(
        "| stored as | bits of a weight | error | perplexity | KL from f32, nats | same greedy |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for (name, format) in FORMATS {
        let bar = progress_bar(corpus.unseen.len(), name);
        let pretrained = match format {
            Format::Integers(layers) => {
                let embedding = Some(MatrixFormat::Dense(Precision::F32));
                let storage = Storage { layers: Some(layers), embedding, ..plain };
                Pretrained::load(&folder, &device, storage)?
            }
            Format::Floats(format) => {
                let written = tempfile::tempdir()?;
                format.write(&folder, written.path())?;
                Pretrained::load(written.path(), &device, plain)?
            }
        };
        let (bits, error) = of_weights(&matrices, format);
        let found = divergence(&reference, &pretrained, &corpus, &bar)?;
        bar.finish_and_clear();
        println!(
            "| {name} | {bits:.2} | {:.2}% | {:.4} | {:.6} | {:.1}% |",
            error.percent(),
            found.perplexity(),
            found.mean_kl(),
            100.0 * found.same_greedy_share(),
        );
    }
    println!("\n{} held-out stories. Embedding and head are in f32.", args.held_out);
    Ok(())
}

/// The bits of a weight, with its share of the scales, and the error over all matrices.
fn of_weights(matrices: &[Matrix], format: Format) -> (f64, Error) {
    let (mut weights, mut bits, mut error) = (0, 0, Error::default());
    for matrix in matrices {
        let all = matrix.rows.concat();
        let n_in = matrix.rows[0].len();
        let (stored, of_matrix) = match format {
            Format::Floats(format) => {
                let stored = format.store(&all, [matrix.rows.len(), n_in]);
                let bits = stored.bits();
                (stored.weights, bits)
            }
            Format::Integers(format) => {
                let row =
                    |row: &Vec<f32>| quantization::stored::<GROUP>(row, format, Rounding::Nearest);
                let bits = if format == Quantized::Int8 { 8 } else { 4 };
                let scales = quantization::SCALE * matrix.rows.len() * n_in.div_ceil(GROUP);
                (matrix.rows.iter().flat_map(row).collect(), bits * all.len() + scales)
            }
        };
        weights += all.len();
        bits += of_matrix;
        error += Error::of(&all, &stored);
    }
    (bits as f64 / weights as f64, error)
}
