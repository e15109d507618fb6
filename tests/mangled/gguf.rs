//! GGUF files.

use super::*;
use crate::common::gguf::{Gguf, Meta};

/// A GGUF file is cut, or has bits flipped, numbers replaced by huge ones, or values and tensors
/// that parse but do not fit: 5,000 times in all, over four files.
#[test]
fn damaged_gguf_files_never_panic() {
    let _alone = alone();
    let device = device();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.gguf");
    for (seed, name) in ["llama3", "mixed", "gpt2", "spm"].into_iter().enumerate() {
        let whole = std::fs::read(fixture(&format!("gguf/{name}.gguf"))).unwrap();
        let parts = Gguf::parse(&whole);
        let mut generator = ChaCha12Rng::seed_from_u64(30 + seed as u64);
        let mut tally = Tally::default();
        for round in 0..FOLDER_MUTATIONS {
            let (what, damaged) = damage_gguf(&whole, &parts, round, &mut generator);
            let what = format!("{name}, round {round}, {what}");
            std::fs::write(&path, &damaged).unwrap();
            tally.attempt(&what, whole.len(), || load_gguf(&path, &device));
        }
        std::fs::write(&path, &whole).unwrap();
        load_gguf(&path, &device).unwrap();
    }
}

fn load_gguf(path: &Path, device: &OpenDevice) -> Result<()> {
    let Pretrained { model, tokenizer, .. } = Pretrained::load(path, device, Precision::F32)?;
    let ids = tokenizer.encode("Once upon a time, 123 naïve 🍎")?;
    tokenizer.decode(&ids)?;
    run(&model)
}

fn damage_gguf(
    whole: &[u8],
    parts: &Gguf,
    round: usize,
    generator: &mut ChaCha12Rng,
) -> (String, Vec<u8>) {
    let header = parts.header().len();
    let mut bytes = whole.to_vec();
    let what = match round % 8 {
        0 => {
            bytes.truncate(below(generator, whole.len()));
            format!("cut to {} bytes", bytes.len())
        }
        1 => {
            bytes.truncate(below(generator, header));
            format!("cut to {} bytes, in the header", bytes.len())
        }
        2 => flip(&mut bytes, 0..32, 1, generator),
        3 => flip(&mut bytes, 0..header, 1 + round % 3, generator),
        4 => flip(&mut bytes, header..whole.len(), 50, generator),
        5 => {
            let at = below(generator, header - 8);
            let huge = huge(generator);
            bytes[at..at + 8].copy_from_slice(&huge.to_le_bytes());
            format!("byte {at} and the next 7 set to {huge}")
        }
        6 => {
            let mut edited = parts.clone();
            let place = below(generator, edited.metadata.len());
            let (key, value) = &mut edited.metadata[place];
            let what = format!("{key} is another");
            *value = strange_value(generator);
            bytes = edited.to_bytes();
            what
        }
        _ => {
            let mut edited = parts.clone();
            let place = below(generator, edited.tensors.len());
            let info = &mut edited.tensors[place];
            let what = format!("{} is another", info.name);
            match below(generator, 4) {
                0 => info.kind = below(generator, 42) as u32,
                1 => info.offset = huge(generator) & !31,
                2 => info.shape = vec![huge(generator); 1 + below(generator, 4)],
                _ => info.shape.reverse(),
            }
            bytes = edited.to_bytes();
            what
        }
    };
    (what, bytes)
}

fn huge(generator: &mut ChaCha12Rng) -> u64 {
    let numbers = [
        0,
        1,
        1 << 20,
        1 << 31,
        1 << 32,
        1 << 40,
        1 << 62,
        1 << 63,
        u64::MAX,
    ];
    numbers[below(generator, numbers.len())]
}

/// A value of the metadata that no key expects.
fn strange_value(generator: &mut ChaCha12Rng) -> Meta {
    match below(generator, 10) {
        0 => Meta::U32(below(generator, 400) as u32),
        1 => Meta::U32(u32::MAX),
        2 => Meta::F32(f32::NAN),
        3 => Meta::F32(1e30),
        4 => Meta::Bool(true),
        5 => Meta::Text("llama".to_owned()),
        6 => Meta::Texts(vec![String::new(); below(generator, 400)]),
        7 => Meta::Integers(vec![4; below(generator, 400)]),
        8 => Meta::Floats(vec![f32::NAN; 480]),
        _ => Meta::Texts((0..400).map(|i| "a ".repeat(i)).collect()),
    }
}
