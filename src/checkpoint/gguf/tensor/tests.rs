//! Tensors of `tests/fixtures/gguf/mixed.gguf`, which has one of each type.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;

use half::{bf16, f16};
use sha2::{Digest, Sha256};

use super::*;

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gguf");
    std::fs::read(folder.join(name)).unwrap()
}

/// Calls a function with each tensor of the file.
fn for_all(mut check: impl FnMut(StoredTensor<'_>)) {
    let bytes = fixture("mixed.gguf");
    let read_at = |start: u64, buffer: &mut [u8]| {
        buffer.copy_from_slice(&bytes[start as usize..][..buffer.len()]);
        Ok(())
    };
    let file = GgufFile::read(bytes.len() as u64, Box::new(&read_at), "mixed.gguf").unwrap();
    for (name, info) in &file.tensors {
        check(StoredTensor { file: &file, name, info, order: Order::Same });
    }
}

fn whole(tensor: &StoredTensor<'_>) -> Vec<u8> {
    tensor.bytes(0..tensor.length(), &mut Vec::new()).unwrap().to_vec()
}

fn sha256_of_f32(bytes: &[u8], dtype: DType) -> String {
    let numbers: Vec<f32> = match dtype {
        DType::F16 => bytes.as_chunks().0.iter().map(|x| f16::from_le_bytes(*x).to_f32()).collect(),
        DType::BF16 => {
            bytes.as_chunks().0.iter().map(|x| bf16::from_le_bytes(*x).to_f32()).collect()
        }
        _ => bytes.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect(),
    };
    let mut text = String::new();
    for byte in Sha256::digest(cast_slice::<f32, u8>(&numbers)) {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

#[test]
fn tensors_have_the_bits_of_the_reference() {
    let expected = String::from_utf8(fixture("mixed.sha256")).unwrap();
    let (mut count, mut types) = (0, BTreeSet::new());
    for_all(|tensor| {
        let found = sha256_of_f32(&whole(&tensor), tensor.dtype());
        let line = format!("{found}  {}\n", tensor.name);
        assert!(expected.contains(&line), "{line}");
        types.insert(format!("{:?}", tensor.info.kind));
        count += 1;
    });
    assert_eq!(count, expected.lines().count());
    assert_eq!(types.len(), 11, "{types:?}");
}

/// A tensor has the same numbers whatever the ranges in which it is read, in their order and with
/// the rows of heads turned.
#[test]
fn ranges_are_parts_of_the_whole() {
    for_all(|mut tensor| {
        let turns = Turns { first: 0, size: 32, keys: 2, of_key: 2 };
        for order in [
            Order::Pairs { head_dim: 16 },
            Order::Rows(turns),
            Order::Columns(turns),
        ] {
            let is_matrix = tensor.info.shape.len() == 2;
            tensor.order = if is_matrix { order } else { Order::Same };
            let whole = whole(&tensor);
            for numbers in [256, 768, 1 << 16] {
                let length = numbers * tensor.dtype().size();
                let mut parts: Vec<u8> = Vec::new();
                for start in (0..whole.len()).step_by(length) {
                    let range = start..whole.len().min(start + length);
                    parts.extend(tensor.bytes(range, &mut Vec::new()).unwrap());
                }
                assert!(parts == whole, "{}, {numbers} at once", tensor.name);
            }
        }
    });
}

#[test]
fn the_rows_of_a_head_are_interleaved() {
    let rows = (0..16).map(|row| Order::Pairs { head_dim: 8 }.stored_row(row));
    let stored: Vec<_> = rows.collect();
    assert_eq!(stored, [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]);
}

#[test]
fn the_heads_of_a_key_are_apart() {
    let turns = Turns { first: 2, size: 2, keys: 2, of_key: 3 };
    let stored: Vec<_> = (0..14).map(|row| Order::Rows(turns).stored_row(row)).collect();
    assert_eq!(stored, [0, 1, 2, 3, 6, 7, 10, 11, 4, 5, 8, 9, 12, 13]);
}

/// What is kept in groups is what is read as numbers.
#[test]
fn columns_are_turned_in_groups_too() {
    let turns = Turns { first: 0, size: 32, keys: 4, of_key: 2 };
    let mut count = 0;
    for_all(|mut tensor| {
        let TensorType::Blocks(blocks) = tensor.info.kind else {
            return;
        };
        if tensor.columns() != 256 || tensor.group_format().is_none() {
            return;
        }
        let groups_of = |tensor: &StoredTensor<'_>| {
            let zero = Group { scales: [0.0; 2], min: 0.0, integers: [0; GROUP] };
            let mut groups = vec![zero; 256 / GROUP];
            tensor.read_groups(0, &mut groups).unwrap();
            groups.iter().map(|group| group.integers).collect::<Vec<_>>()
        };
        let plain = groups_of(&tensor);
        tensor.order = Order::Columns(turns);
        let found = groups_of(&tensor);
        let expected: Vec<_> = [0, 4, 1, 5, 2, 6, 3, 7].map(|group| plain[group]).to_vec();
        assert_eq!(found, expected, "{blocks:?}");
        count += 1;
    });
    assert!(count > 0);
}

#[test]
fn a_file_that_is_cut_off_later() {
    let bytes = fixture("mixed.gguf");
    let end = Mutex::new(bytes.len());
    let read_at = |start: u64, buffer: &mut [u8]| {
        let bytes = &bytes[..*end.lock().unwrap()];
        let part = bytes.get(start as usize..start as usize + buffer.len());
        buffer.copy_from_slice(part.ok_or(std::io::ErrorKind::UnexpectedEof)?);
        Ok(())
    };
    let file = GgufFile::read(bytes.len() as u64, Box::new(&read_at), "mixed.gguf").unwrap();
    *end.lock().unwrap() = 20_000;
    for (name, info) in &file.tensors {
        let tensor = StoredTensor { file: &file, name, info, order: Order::Same };
        let error = tensor.bytes(0..tensor.length(), &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains(name.as_str()) && error.contains("cannot be read"), "{error}");
    }
    *end.lock().unwrap() = 10;
    let error = GgufFile::read(bytes.len() as u64, Box::new(&read_at), "mixed.gguf").err().unwrap();
    assert!(error.to_string().contains("its header cannot be read"), "{error}");
}
