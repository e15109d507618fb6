//! Matrices as the kernels read them: in panels, or in 8 bits.

use std::{array, iter};

use crate::broken::fail;
use crate::model::of_length;
use crate::parts::{GROUP, Group, Kernel, LANES, Panel, Parts, Rows};

/// In how many bits the weights are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    /// 32, and each row as it is in the file. No part computes these products.
    AsTheyAre,
    /// 32, in panels, for the microkernel.
    All,
    /// 8, in groups that share a scale, for the product with quantized weights.
    Eight,
}

/// A matrix, `[n_out][n_in]`.
pub enum Matrix {
    /// `[n_out][n_in]`
    Rows(Rows),
    Panels {
        panels: Vec<Panel>,
        n_out: usize,
    },
    /// `[n_out][groups]`
    Groups(Vec<Vec<Group>>),
}

/// Rows of `x` that a pass over a panel multiplies.
const ROWS: usize = 4;

impl Matrix {
    pub fn packed(parts: &Parts, rows: &Rows, bits: Bits) -> Self {
        match bits {
            Bits::AsTheyAre => return Self::Rows(rows.clone()),
            Bits::Eight => return Self::Groups(rows.iter().map(|row| quantized(row)).collect()),
            Bits::All => {}
        }
        let panels = parts.ask("microkernel", |parts| (parts.pack)(rows));
        let (n_out, n_in) = (rows.len(), rows[0].len());
        let count = n_out.div_ceil(LANES);
        if panels.len() != count || panels.iter().any(|panel| panel.len() != n_in) {
            fail(
                "microkernel",
                format!("made no {count} panels of {n_in} inputs of a matrix [{n_out}][{n_in}]"),
            );
        }
        Self::Panels { panels, n_out }
    }

    /// Each row of `x` times the matrix: `[seq][n_in]` -> `[seq][n_out]`.
    pub fn product(&self, parts: &Parts, x: &[Vec<f32>]) -> Rows {
        let (name, rows, n_out) = match self {
            Self::Rows(weights) => {
                let product = |x: &Vec<f32>| weights.iter().map(|row| dot(row, x)).collect();
                return x.iter().map(product).collect();
            }
            Self::Panels { panels, n_out } => {
                let run = |parts: &Parts| by_panels(parts, panels, *n_out, x);
                ("microkernel", parts.ask("microkernel", run), *n_out)
            }
            Self::Groups(outputs) => {
                let run = |parts: &Parts| by_groups(parts, outputs, x);
                ("group_product", parts.ask("group_product", run), outputs.len())
            }
        };
        rows.into_iter().map(|row| of_length(name, row, n_out)).collect()
    }
}

pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    iter::zip(a, b).map(|(a, b)| a * b).sum()
}

/// Some rows at a time, and the rest one by one.
fn by_panels(parts: &Parts, panels: &[Panel], n_out: usize, x: &[Vec<f32>]) -> Rows {
    let (several, rest) = x.as_chunks::<ROWS>();
    let mut y = Rows::new();
    for rows in several {
        y.extend(times(panels, n_out, rows, parts.microkernel.four));
    }
    for row in rest {
        y.extend(times(panels, n_out, array::from_ref(row), parts.microkernel.one));
    }
    y
}

/// `M` rows times all panels.
fn times<const M: usize>(
    panels: &[Panel],
    n_out: usize,
    rows: &[Vec<f32>; M],
    microkernel: Kernel<M>,
) -> Rows {
    let packed: Vec<[f32; M]> =
        (0..rows[0].len()).map(|k| array::from_fn(|row| rows[row][k])).collect();
    let mut y = vec![Vec::with_capacity(n_out + LANES); M];
    for panel in panels {
        for (y, sums) in iter::zip(&mut y, microkernel(panel, &packed)) {
            y.extend(sums);
        }
    }
    // The last panel may have lanes without an output.
    y.iter_mut().for_each(|row| row.truncate(n_out));
    y
}

fn by_groups(parts: &Parts, outputs: &[Vec<Group>], x: &[Vec<f32>]) -> Rows {
    let product =
        |x: &Vec<f32>| outputs.iter().map(|groups| (parts.group_product)(groups, x)).collect();
    x.iter().map(product).collect()
}

/// A row in groups: the greatest weight of each is 127 times its scale.
fn quantized(row: &[f32]) -> Vec<Group> {
    let group = |weights: &[f32; GROUP]| {
        let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
        let scale = greatest / 127.0;
        let integer = |weight: f32| {
            if scale == 0.0 {
                0
            } else {
                (weight / scale).round() as i8
            }
        };
        Group { scale, integers: weights.map(integer) }
    };
    let (groups, rest) = row.as_chunks::<GROUP>();
    debug_assert!(rest.is_empty(), "ember's widths are multiples of a group");
    groups.iter().map(group).collect()
}
