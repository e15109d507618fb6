//! Outputs are dealt out to the panels like cards.

pub fn pack(weights: &[Vec<f32>], lanes: usize) -> Vec<Vec<Vec<f32>>> {
    let panels = weights.len().div_ceil(lanes);
    let n_in = weights.first().map_or(0, Vec::len);
    let weight = |o: usize, k: usize| weights.get(o).map_or(0.0, |row| row[k]);
    let lanes_of = |p: usize, k: usize| (0..lanes).map(|l| weight(l * panels + p, k)).collect();
    (0..panels).map(|p| (0..n_in).map(|k| lanes_of(p, k)).collect()).collect()
}
