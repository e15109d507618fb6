//! Blocks that the Python package `gguf` made and dequantized: `tests/fixtures/gguf/blocks`.

use std::path::Path;

use super::*;

const TYPES: [(&str, BlockType); 13] = [
    ("q4_0", BlockType::Q4_0),
    ("q4_1", BlockType::Q4_1),
    ("q5_0", BlockType::Q5_0),
    ("q5_1", BlockType::Q5_1),
    ("q8_0", BlockType::Q8_0),
    ("q4_k", BlockType::Q4K),
    ("q5_k", BlockType::Q5K),
    ("q6_k", BlockType::Q6K),
    ("q2_k", BlockType::Q2K),
    ("q3_k", BlockType::Q3K),
    ("iq4_nl", BlockType::Iq4Nl),
    ("iq4_xs", BlockType::Iq4Xs),
    ("mxfp4", BlockType::Mxfp4),
];

#[test]
fn blocks_have_the_bits_of_the_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/gguf/blocks");
    for (name, blocks) in TYPES {
        let stored = std::fs::read(folder.join(format!("{name}.blocks"))).unwrap();
        let expected = std::fs::read(folder.join(format!("{name}.f32"))).unwrap();
        let count = stored.len() / blocks.bytes();
        assert!(count >= 8 && stored.len() == count * blocks.bytes(), "{name}");
        assert_eq!(expected.len(), 4 * count * blocks.numbers(), "{name}");
        let expected = expected.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let mut numbers = vec![0.0; count * blocks.numbers()];
        for (block, numbers) in
            stored.chunks(blocks.bytes()).zip(numbers.chunks_mut(blocks.numbers()))
        {
            blocks.dequantize(block, numbers);
        }
        for (i, (number, expected)) in numbers.iter().zip(expected).enumerate() {
            assert!(!number.is_nan(), "{name}, number {i}");
            assert_eq!(number.to_bits(), expected, "{name}, number {i}: {number}");
        }
        if blocks.group_format().is_none() {
            continue;
        }
        let mut groups = vec![Group::ZERO; numbers.len() / GROUP];
        let of_block = groups.chunks_mut(blocks.numbers() / GROUP);
        for (block, groups) in stored.chunks(blocks.bytes()).zip(of_block) {
            blocks.groups(block, groups);
        }
        for (group, numbers) in groups.iter().zip(numbers.as_chunks::<GROUP>().0) {
            for (k, (integer, number)) in group.integers.iter().zip(numbers).enumerate() {
                let value = group.scales[2 * k / GROUP] * f32::from(*integer) - group.min;
                assert_eq!(value.to_bits(), number.to_bits(), "{name}");
            }
        }
    }
}
