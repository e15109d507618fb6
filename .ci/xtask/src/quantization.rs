//! `cargo xtask quantization`: how far the weights of a model are from what is stored of them.

mod numbers;

use std::fs;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use safetensors::SafeTensors;
use slowburn::kernels::{self, Quantized, Rounding};

use crate::float_checkpoint::matrix;

const INT8: Quantized = Quantized::Int8;
const INT4: Quantized = Quantized::Int4;
const NEAREST: Rounding = Rounding::Nearest;
const SQUARES: Rounding = Rounding::LeastSquares;

/// Bits of a scale.
pub const SCALE: usize = 16;

#[derive(Args)]
pub struct QuantizationArgs {
    /// What to measure
    #[arg(value_enum)]
    what: What,
    /// The model folder, with weights in f16
    #[arg(long, default_value = "models/ember")]
    model: PathBuf,
    /// With `numbers`: draw them to this file (.svg), below how many weights are where
    #[arg(long)]
    chart: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// The error for groups of several sizes
    Groups,
    /// What one large weight does to the others of its group
    Outlier,
    /// What becomes of weights that are quantized a second time
    Twice,
    /// The numbers that there are in 4 and 8 bits
    Numbers,
    /// The error of integers and of floating point, by how uneven a group is
    Uneven,
}

pub fn run(args: &QuantizationArgs) -> Result<()> {
    let matrices = matrices(&folder(&args.model))?;
    match args.what {
        What::Groups => groups(&matrices),
        What::Outlier => outlier(&matrices),
        What::Twice => twice(&matrices),
        What::Numbers => numbers::run(&matrices, args.chart.as_deref()),
        What::Uneven => numbers::uneven(&matrices),
    }
}

/// The model's folder. The book's figures are drawn elsewhere, and the bundled model is in the root.
pub fn folder(model: &Path) -> PathBuf {
    let root = crate::root();
    if model.exists() {
        model.to_owned()
    } else {
        root.join(model)
    }
}

/// The matrices of the layers, as rows of weights.
///
/// # Errors
/// A folder without such a file, or with weights that are not in f16.
pub fn matrices(model: &Path) -> Result<Vec<Matrix>> {
    let path = model.join("model.safetensors");
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut matrices = Vec::new();
    for (name, tensor) in SafeTensors::deserialize(&bytes)?.iter() {
        let found = matrix(name, tensor.dtype(), tensor.shape(), tensor.data())?;
        if let Some((numbers, [_, n_in])) = found {
            let rows = numbers.chunks(n_in).map(<[f32]>::to_vec).collect();
            matrices.push(Matrix { name: name.to_owned(), rows });
        }
    }
    ensure!(!matrices.is_empty(), "{} has no layers", path.display());
    matrices.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(matrices)
}

pub struct Matrix {
    name: String,
    pub rows: Vec<Vec<f32>>,
}

/// The sums of squares of weights and of their errors.
#[derive(Default, Clone, Copy)]
pub struct Error {
    weights: f64,
    errors: f64,
}

impl Error {
    pub fn of(weights: &[f32], stored: &[f32]) -> Self {
        let square = |x: f32| f64::from(x) * f64::from(x);
        Self {
            weights: weights.iter().map(|w| square(*w)).sum(),
            errors: weights.iter().zip(stored).map(|(w, s)| square(w - s)).sum(),
        }
    }

    /// The root of the mean squared error, in percent of that of the weights.
    pub fn percent(&self) -> f64 {
        100.0 * (self.errors / self.weights).sqrt()
    }
}

impl AddAssign for Error {
    fn add_assign(&mut self, other: Self) {
        self.weights += other.weights;
        self.errors += other.errors;
    }
}

/// What is stored of a row in groups of `N`.
pub fn stored<const N: usize>(row: &[f32], format: Quantized, rounding: Rounding) -> Vec<f32> {
    let mut stored = Vec::with_capacity(row.len());
    for weights in row.chunks(N) {
        let mut group = [0.0; N];
        group[..weights.len()].copy_from_slice(weights);
        let (scale, integers) = kernels::quantize(&group, format, rounding);
        let weight = |integer: &i8| scale.to_f32() * f32::from(*integer);
        stored.extend(integers[..weights.len()].iter().map(weight));
    }
    stored
}

/// The error of all matrices where each row is stored in this way.
fn error(matrices: &[Matrix], store: impl Fn(&[f32]) -> Vec<f32>) -> Error {
    let mut error = Error::default();
    for row in rows(matrices) {
        error += Error::of(row, &store(row));
    }
    error
}

fn rows(matrices: &[Matrix]) -> impl Iterator<Item = &Vec<f32>> {
    matrices.iter().flat_map(|matrix| &matrix.rows)
}

fn groups(matrices: &[Matrix]) -> Result<()> {
    println!("| group | int8: bits | error | int4: bits | error, nearest | error, least squares |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    groups_of::<8>(matrices, "8");
    groups_of::<16>(matrices, "16");
    groups_of::<32>(matrices, "32");
    groups_of::<64>(matrices, "64");
    groups_of::<128>(matrices, "128");
    let longest = matrices.iter().filter_map(|matrix| matrix.rows.first()).map(Vec::len).max();
    ensure!(longest <= Some(512), "a row is longer than 512");
    groups_of::<512>(matrices, "a row");
    let weights: usize = rows(matrices).map(Vec::len).sum();
    println!("\nOf {} matrices with {weights} weights.", matrices.len());
    Ok(())
}

/// A line for groups of `N`.
fn groups_of<const N: usize>(matrices: &[Matrix], name: &str) {
    let weights: usize = rows(matrices).map(Vec::len).sum();
    let groups: usize = rows(matrices).map(|row| row.len().div_ceil(N)).sum();
    let scales = (SCALE * groups) as f64 / weights as f64;
    let percent =
        |format, rounding| error(matrices, |row| stored::<N>(row, format, rounding)).percent();
    println!(
        "| {name} | {:.2} | {:.2}% | {:.2} | {:.2}% | {:.2}% |",
        8.0 + scales,
        percent(INT8, NEAREST),
        4.0 + scales,
        percent(INT4, NEAREST),
        percent(INT4, SQUARES),
    );
}

type Group = [f32; kernels::GROUP];

fn outlier(matrices: &[Matrix]) -> Result<()> {
    let first = matrices.iter().find(|matrix| matrix.name.contains("gate_proj"));
    let first = first.and_then(|matrix| matrix.rows[0].first_chunk()).context("no gate")?;
    let with_outlier = |factor: f32| {
        let mut group: Group = *first;
        group[greatest(&group)] *= factor;
        group
    };
    let all = rows(matrices).flat_map(|row| row.as_chunks().0);
    let worst: &Group =
        all.max_by(|a, b| ratio(a).total_cmp(&ratio(b))).context("rows are too short")?;
    println!(
        "| a group of 32 weights | greatest / others | int4: others at 0 | their error | int8: others at 0 | their error |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (name, group) in [
        ("the first one of a `gate`", *first),
        ("its greatest weight × 4", with_outlier(4.0)),
        ("its greatest weight × 16", with_outlier(16.0)),
        ("its greatest weight × 256", with_outlier(256.0)),
        ("the most uneven one of the model", *worst),
    ] {
        let [int4, int8] = [INT4, INT8].map(|format| {
            let stored = stored::<{ kernels::GROUP }>(&group, format, NEAREST);
            let others = others(&stored, greatest(&group));
            let zeros = others.iter().filter(|number| **number == 0.0).count();
            let error = Error::of(&self::others(&group, greatest(&group)), &others);
            format!("{zeros} of {} | {:.1}%", others.len(), error.percent())
        });
        println!("| {name} | {:.1} | {int4} | {int8} |", ratio(&group));
    }
    Ok(())
}

/// Where the weight of greatest magnitude is.
fn greatest(group: &Group) -> usize {
    (0..group.len()).max_by(|&a, &b| group[a].abs().total_cmp(&group[b].abs())).unwrap_or(0)
}

/// All weights but one.
fn others(group: &[f32], one: usize) -> Vec<f32> {
    [&group[..one], &group[one + 1..]].concat()
}

/// The greatest magnitude, relative to the root mean square of the other weights.
fn ratio(group: &Group) -> f64 {
    let one = greatest(group);
    let others = others(group, one);
    let mean = Error::of(&others, &others).weights / others.len() as f64;
    f64::from(group[one].abs()) / mean.sqrt()
}

fn twice(matrices: &[Matrix]) -> Result<()> {
    type Store = fn(&[f32]) -> Vec<f32>;
    const IN_INT8: Store = |row| stored::<32>(row, INT8, NEAREST);
    const IN_INT4: Store = |row| stored::<32>(row, INT4, NEAREST);
    const LARGER: Store = |row| stored::<64>(row, INT4, NEAREST);
    println!("| what is stored | error |");
    println!("| --- | ---: |");
    let steps: [(&str, &[Store]); 6] = [
        ("int8", &[IN_INT8]),
        ("int4", &[IN_INT4]),
        ("int4, and again int4", &[IN_INT4, IN_INT4]),
        ("int8, then int4", &[IN_INT8, IN_INT4]),
        ("int4, then int8", &[IN_INT4, IN_INT8]),
        ("int4 in groups of 64, then int4 in groups of 32", &[LARGER, IN_INT4]),
    ];
    for (name, steps) in steps {
        let error =
            error(matrices, |row| steps.iter().fold(row.to_vec(), |row, store| store(&row)));
        println!("| {name} | {:.2}% |", error.percent());
    }
    Ok(())
}
