//! Products, as the kernels compute them.

use std::iter;

use crate::parts::{GROUP, Group, LANES, Panel};

pub fn pack(weights: &[Vec<f32>]) -> Vec<Panel> {
    let n_in = weights.first().map_or(0, Vec::len);
    let weight = |output: usize, k: usize| weights.get(output).map_or(0.0, |row| row[k]);
    let input = |panel: usize, k| std::array::from_fn(|lane| weight(panel * LANES + lane, k));
    let panel = |panel| (0..n_in).map(|k| input(panel, k)).collect();
    (0..weights.len().div_ceil(LANES)).map(panel).collect()
}

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
