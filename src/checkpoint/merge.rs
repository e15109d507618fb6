//! Merging an adapter into the model that it is for.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use half::{bf16, f16};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::adapter::{AdapterFolder, LowRank};
use super::folder::{not_a_model, read};
use super::safetensors::{RawTensor, SafetensorsFile};
use super::shards::{Shards, WHOLE};
use crate::adapter::inner_name;
use crate::error::{Error, LoadError, Result};

/// Writes a model in which an adapter is merged: of each matrix `W` that it changes, the folder `out` has
/// `W + scale * B A`, in the type that `W` has in the folder `model`. What else is there is copied.
///
/// # Errors
/// An `out` that has a model already, or cannot be written; a model that is no folder of safetensors, or is
/// quantized; what [`Pretrained::read_adapter`](crate::Pretrained::read_adapter) refuses.
pub fn merge(model: &Path, adapter: &Path, out: &Path) -> Result<()> {
    check_unquantized(model)?;
    let adapter = AdapterFolder::open(adapter)?;
    let shards = Shards::open(model)?;
    let files = shards.parsed()?;
    let changes = changes(&files, &adapter)?;
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Load(LoadError::Write { path: path.clone(), source })
    };
    let file = out.join(WHOLE);
    fs::create_dir_all(out).map_err(failed(out))?;
    let mut to = BufWriter::new(File::create_new(&file).map_err(failed(&file))?);
    write_header(&files, &mut to).map_err(failed(&file))?;
    for (of, name) in tensors(&files) {
        let mut tensor = of.raw(name)?;
        if let Some(change) = changes.get(name) {
            add(&mut tensor, change, adapter.is_transposed()).ok_or_else(|| {
                let (origin, tensor, found) =
                    (of.origin().to_owned(), name.to_owned(), tensor.dtype.clone());
                LoadError::TensorDType { origin, tensor, found }
            })?;
        }
        to.write_all(&tensor.bytes).map_err(failed(&file))?;
    }
    to.flush().map_err(failed(&file))?;
    copy_others(model, out)
}

fn check_unquantized(model: &Path) -> Result<()> {
    let json = read(model, "config.json")?.ok_or_else(|| not_a_model(model, "config.json"))?;
    let origin = format!("{:?}", model.join("config.json"));
    let config: Value = serde_json::from_slice(&json)
        .map_err(|source| LoadError::Json { origin: origin.clone(), source })?;
    match config.get("quantization_config") {
        None | Some(Value::Null) => Ok(()),
        Some(value) => Err(LoadError::Unsupported {
            origin,
            field: "quantization_config",
            value: value.to_string(),
            supported: "a model without it, that is not quantized",
        }
        .into()),
    }
}

/// All tensors, with the files that hold them.
fn tensors<'a>(
    files: &'a [SafetensorsFile<'_>],
) -> impl Iterator<Item = (&'a SafetensorsFile<'a>, &'a str)> {
    files.iter().flat_map(|file| file.names().map(move |name| (file, name)))
}

/// The matrices that the adapter changes, by their names.
fn changes(
    files: &[SafetensorsFile<'_>],
    adapter: &AdapterFolder,
) -> Result<BTreeMap<String, LowRank>> {
    let of_module = |(file, name)| {
        let (file, name): (&SafetensorsFile<'_>, &str) = (file, name);
        Some((inner_name(name.strip_suffix(".weight")?), (file, name)))
    };
    let matrices: HashMap<&str, _> = tensors(files).filter_map(of_module).collect();
    let shape = |module: &str| {
        let (file, name) = matrices.get(inner_name(module))?;
        let [rows, columns] = *file.shape(name)?.as_array()?;
        Some(if adapter.is_transposed() {
            [columns, rows]
        } else {
            [rows, columns]
        })
    };
    let mut changes = BTreeMap::new();
    adapter.for_each(shape, |module, change| {
        if let Some((_, name)) = matrices.get(inner_name(module)) {
            changes.insert((*name).to_owned(), change);
        }
        Ok(())
    })?;
    Ok(changes)
}

/// The header of a file with all tensors, one after the other.
fn write_header(files: &[SafetensorsFile<'_>], to: &mut impl Write) -> io::Result<()> {
    let mut header = Map::new();
    header.insert("__metadata__".to_owned(), json!({ "format": "pt" }));
    let mut end = 0;
    for (name, dtype, shape, length) in files.iter().flat_map(SafetensorsFile::described) {
        let start = end;
        end += length;
        let entry = json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, end] });
        header.insert(name.to_owned(), entry);
    }
    let mut header = serde_json::to_vec(&header)?;
    header.resize(header.len().next_multiple_of(8), b' ');
    to.write_all(&(header.len() as u64).to_le_bytes())?;
    to.write_all(&header)
}

/// Adds `scale * B A` to a matrix. None where its type is not one of numbers.
fn add(tensor: &mut RawTensor, change: &LowRank, is_transposed: bool) -> Option<()> {
    match tensor.dtype.as_str() {
        "F32" => add_as(tensor, change, is_transposed, f32::from_le_bytes, f32::to_le_bytes),
        "F16" => add_as(
            tensor,
            change,
            is_transposed,
            |bytes| f16::from_le_bytes(bytes).to_f32(),
            |number| f16::from_f32(number).to_le_bytes(),
        ),
        "BF16" => add_as(
            tensor,
            change,
            is_transposed,
            |bytes| bf16::from_le_bytes(bytes).to_f32(),
            |number| bf16::from_f32(number).to_le_bytes(),
        ),
        _ => return None,
    }
    Some(())
}

fn add_as<const N: usize>(
    tensor: &mut RawTensor,
    LowRank { down, up, rank, scale }: &LowRank,
    is_transposed: bool,
    read: impl Fn([u8; N]) -> f32 + Sync,
    write: impl Fn(f32) -> [u8; N] + Sync,
) {
    let columns = tensor.shape.last().copied().unwrap_or(1).max(1);
    let (rank, n_in) = (*rank, down.len() / rank);
    let rows = tensor.bytes.as_chunks_mut::<N>().0.par_chunks_mut(columns);
    rows.enumerate().for_each(|(row, numbers)| {
        for (column, number) in numbers.iter_mut().enumerate() {
            let (output, input) = if is_transposed {
                (column, row)
            } else {
                (row, column)
            };
            let up = &up[output * rank..(output + 1) * rank];
            let down = down[input..].iter().step_by(n_in);
            let sum: f32 = up.iter().zip(down).map(|(up, down)| up * down).sum();
            *number = write(read(*number) + scale * sum);
        }
    });
}

/// Copies what is no weight: the configuration, the tokenizer, templates.
fn copy_others(model: &Path, out: &Path) -> Result<()> {
    const WEIGHTS: [&str; 6] = [
        ".safetensors",
        ".index.json",
        ".bin",
        ".gguf",
        ".pth",
        ".pt",
    ];
    let failed =
        |path: &Path, source| Error::Load(LoadError::Write { path: path.to_owned(), source });
    let entries = model.read_dir().map_err(|source| failed(model, source))?;
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let is_weights = |name: &str| WEIGHTS.iter().any(|end| name.ends_with(end));
        if !entry.path().is_file() || name.to_str().is_none_or(is_weights) {
            continue;
        }
        let to = out.join(&name);
        fs::copy(entry.path(), &to).map_err(|source| failed(&to, source))?;
    }
    Ok(())
}
