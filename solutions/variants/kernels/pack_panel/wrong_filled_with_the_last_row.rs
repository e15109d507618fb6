//! The lanes without an output repeat the last one.

pub fn pack(weights: &[Vec<f32>], lanes: usize) -> Vec<Vec<Vec<f32>>> {
    let panels = weights.len().div_ceil(lanes);
    let n_in = weights.first().map_or(0, Vec::len);
    let weight = |o: usize, k: usize| weights[o.min(weights.len() - 1)][k];
    let lanes_of = |p: usize, k: usize| (0..lanes).map(|l| weight(p * lanes + l, k)).collect();
    (0..panels).map(|p| (0..n_in).map(|k| lanes_of(p, k)).collect()).collect()
}
