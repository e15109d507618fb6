//! What adapters add to linear layers on the CPU.

use std::borrow::Cow;

use super::Linear;
use crate::adapter::Change;
use crate::kernels::{Layer, LayersOf, recorded};
use crate::model::adapted::{AdaptedRows, Rows};

/// The rows of one adapter, and what it changes of the layers.
struct Group<'a> {
    rows: &'a [usize],
    /// `[rows, in]`
    x: Cow<'a, [f32]>,
    /// With the number of the layer.
    changes: Vec<(usize, &'a Change)>,
}

// ANCHOR: adapt
/// Adds `scale * B (A x)` to the rows of `y` that have an adapter. `x` is `[rows, in]`, and each
/// `y` is `[rows, out]`: what all rows have of the model.
///
/// As with experts, the rows of an adapter are gathered, so that its matrices are read once; the
/// products of all adapters are computed together. No row depends on another.
pub(super) fn adapt<const N: usize>(
    linears: [&Linear; N],
    x: &[f32],
    rows: &Rows,
    y: [&mut Vec<f32>; N],
) {
    let groups = rows.adapted.iter().map(|part| Group::new(&linears, x, rows.count, part));
    let groups: Vec<Group<'_>> = groups.filter(|group| !group.changes.is_empty()).collect();
    if groups.is_empty() {
        return;
    }
    let down = groups.iter().map(|Group { rows, x, changes }| LayersOf {
        layers: changes.iter().map(|(_, Change { down, .. })| layer(down)).collect(),
        x,
        rows: rows.len(),
    });
    let hidden = recorded::linear_of_groups(&down.collect::<Vec<_>>()); // [rows, rank] each
    let each = || {
        let each = |group| {
            let Group { rows, changes, .. }: &Group<'_> = group;
            changes.iter().map(|(index, change)| (*rows, *index, *change))
        };
        groups.iter().flat_map(each)
    };
    let up = each().zip(&hidden).map(|((rows, _, Change { up, .. }), hidden)| LayersOf {
        layers: vec![layer(up)],
        x: hidden,
        rows: rows.len(),
    });
    let added = recorded::linear_of_groups(&up.collect::<Vec<_>>()); // [rows, out] each
    for ((rows, index, Change { scale, .. }), added) in each().zip(&added) {
        let width = added.len() / rows.len();
        for (row, added) in rows.iter().zip(added.chunks_exact(width)) {
            let y = &mut y[index][row * width..(row + 1) * width];
            y.iter_mut().zip(added).for_each(|(y, added)| *y += scale * added);
        }
    }
}
// ANCHOR_END: adapt

impl<'a> Group<'a> {
    fn new(
        linears: &[&Linear],
        x: &'a [f32],
        count: usize,
        AdaptedRows { adapter, rows }: &'a AdaptedRows,
    ) -> Self {
        let change = |(index, linear): (usize, &&Linear)| {
            Some((index, adapter.change(linear.place.number?)?))
        };
        let changes: Vec<_> = linears.iter().enumerate().filter_map(change).collect();
        let width = x.len() / count;
        let x = if changes.is_empty() || rows.len() == count {
            Cow::Borrowed(x)
        } else {
            rows.iter().flat_map(|row| &x[row * width..(row + 1) * width]).copied().collect()
        };
        Self { rows, x, changes }
    }
}

fn layer(weights: &crate::kernels::Panels) -> Layer<'_> {
    Layer { weights, bias: None }
}
