//! Each place of a panel asks for its weight.

pub fn pack(weights: &[Vec<f32>], lanes: usize) -> Vec<Vec<Vec<f32>>> {
    let n_in = weights.first().map_or(0, Vec::len);
    let weight = |o: usize, k: usize| weights.get(o).map_or(0.0, |row| row[k]);
    let lanes_of = |p: usize, k: usize| (0..lanes).map(|l| weight(p * lanes + l, k)).collect();
    let panel = |p: usize| (0..n_in).map(|k| lanes_of(p, k)).collect();
    (0..weights.len().div_ceil(lanes)).map(panel).collect()
}
