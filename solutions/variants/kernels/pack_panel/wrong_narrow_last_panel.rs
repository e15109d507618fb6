//! The last panel has as many lanes as there are outputs left.

pub fn pack(weights: &[Vec<f32>], lanes: usize) -> Vec<Vec<Vec<f32>>> {
    let panel = |outputs: &[Vec<f32>]| {
        let lanes_of = |k: usize| outputs.iter().map(|row| row[k]).collect();
        (0..outputs[0].len()).map(lanes_of).collect()
    };
    weights.chunks(lanes).map(panel).collect()
}
