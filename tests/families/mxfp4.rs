//! Experts of gpt-oss in blocks of MXFP4, as its checkpoints are published.

use burn::tensor::bf16;
use serde_json::json;

use crate::common::{Checkpoint, assert_relatively_close};
use crate::{changed, logits};

const LAYERS: usize = 4;
const EXPERTS: usize = 6;
/// Of hidden states, and within experts: both are whole groups of 32.
const SIZE: usize = 64;

/// The numbers of 4 bits: a sign, two bits of an exponent, and one of a fraction.
fn number(bits: usize, scale: u8) -> f32 {
    let (exponent, fraction) = (bits / 2 % 4, bits % 2);
    let magnitude = match exponent {
        0 => fraction as f32 / 2.0,
        _ => (1.0 + fraction as f32 / 2.0) * 2f32.powi(exponent as i32 - 1),
    };
    let sign = if bits < 8 { 1.0 } else { -1.0 };
    sign * magnitude * 2f32.powi(i32::from(scale) - 127)
}

/// gpt-oss with experts of `SIZE`, in blocks or as the numbers that these hold.
fn logits_of(in_blocks: bool) -> Vec<Vec<f32>> {
    let model = changed(
        "gpt-oss",
        |config| {
            config["intermediate_size"] = SIZE.into();
            if in_blocks {
                config["quantization_config"] = json!({"quant_method": "mxfp4"});
            }
        },
        |checkpoint| {
            checkpoint.retain(|name| !name.contains(".experts."));
            for layer in 0..LAYERS {
                for (part, rows) in [("gate_up_proj", 2 * SIZE), ("down_proj", SIZE)] {
                    let name = format!("model.layers.{layer}.mlp.experts.{part}");
                    add_experts(checkpoint, &name, rows, layer, in_blocks);
                }
            }
        },
    );
    logits(&model)
}

fn add_experts(made: &mut Checkpoint, name: &str, rows: usize, seed: usize, in_blocks: bool) {
    let bits = |i: usize| (i * i * 31 + i * 7 + seed) / 3 % 16;
    let scale = |group: usize| 122 + (group * 7 % 4) as u8;
    let halves = |numbers: Vec<f32>| -> Vec<u8> {
        numbers.into_iter().flat_map(|number| bf16::from_f32(number).to_le_bytes()).collect()
    };
    let bias = (0..EXPERTS * rows).map(|i| (i * 5 % 11) as f32 / 8.0 - 0.5).collect();
    made.add(&format!("{name}_bias"), "BF16", &[EXPERTS, rows], &halves(bias));
    let numbers = EXPERTS * rows * SIZE;
    if in_blocks {
        let groups = [EXPERTS, rows, SIZE / 32];
        let blocks: Vec<u8> =
            (0..numbers / 2).map(|i| (bits(2 * i) | bits(2 * i + 1) << 4) as u8).collect();
        made.add(&format!("{name}_blocks"), "U8", &[&groups[..], &[16]].concat(), &blocks);
        let scales: Vec<u8> = (0..numbers / 32).map(scale).collect();
        made.add(&format!("{name}_scales"), "U8", &groups, &scales);
        return;
    }
    // Of each expert `[in, out]`.
    let at = |expert: usize, input: usize, row: usize| {
        let i = (expert * rows + row) * SIZE + input;
        number(bits(i), scale(i / 32))
    };
    let mut turned = Vec::new();
    for expert in 0..EXPERTS {
        for input in 0..SIZE {
            turned.extend((0..rows).map(|row| at(expert, input, row)));
        }
    }
    made.add(name, "BF16", &[EXPERTS, SIZE, rows], &halves(turned));
}

#[test]
fn blocks_give_the_logits_of_their_numbers() {
    for (found, expected) in logits_of(true).iter().zip(&logits_of(false)) {
        assert_relatively_close(found, expected, 1e-5, "blocks");
    }
}
