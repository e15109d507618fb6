//! What the layers of a sequence remember that keep no keys and values: a state of fixed size, which each
//! position replaces.
//!
//! Keys and values can be cut back, since each position has its own. A state cannot. So a layer keeps two: the
//! one after the last pass, and the one before it. A short pass may have read draft tokens, of which some are
//! rejected: what it read is kept too, and read again from the state before it, up to the first that was
//! rejected.

use super::block::SequenceStates;

/// The most tokens of a pass of which some may be rejected: a sampled one, and the draft tokens behind it.
const SHORT: usize = 17;

/// The most draft tokens of a pass, where layers keep states.
pub(crate) const MOST_DRAFTED: usize = SHORT - 1;

/// The sizes of what a layer remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateShape {
    /// The numbers of a state.
    pub(crate) state: usize,
    /// The numbers of a position that a state is made from.
    pub(crate) row: usize,
}

impl StateShape {
    /// The memory of a copy, in bytes.
    pub(crate) fn snapshot_bytes(self) -> usize {
        self.state * size_of::<f32>()
    }

    /// The most memory of a sequence, in bytes: two states, and the rows of a short pass.
    pub(crate) fn bytes(self) -> usize {
        (2 * self.state + SHORT * self.row) * size_of::<f32>()
    }
}

impl SequenceStates for States {
    fn are_after(&self, length: usize) -> bool {
        !self.0.is_empty() && self.0.iter().all(|layer| layer.after.0 == length)
    }

    fn snapshot(&self) -> Self {
        let of_layer = |layer: &LayerState| LayerState {
            before: (layer.after.0, Vec::new()),
            after: layer.after.clone(),
            rows: Vec::new(),
        };
        Self(self.0.iter().map(of_layer).collect())
    }
}

/// The states of a sequence, layer by layer.
#[derive(Debug, Clone, Default)]
pub struct States(Vec<LayerState>);

/// What a layer remembers of a sequence.
#[derive(Debug, Clone, Default)]
struct LayerState {
    /// The state before the last pass, and its position.
    before: (usize, Vec<f32>),
    /// The state after the last pass, and its position.
    after: (usize, Vec<f32>),
    /// The rows of the last pass, if it was short.
    rows: Vec<f32>,
}

impl States {
    /// Replaces the state of a layer, which is that after `start` positions, by that after `rows` more:
    /// `[seq, row]`. `update` changes a state with such rows, and returns what it makes of them.
    pub(crate) fn advance(
        &mut self,
        layer: usize,
        shape: StateShape,
        (start, rows): (usize, &[f32]),
        mut update: impl FnMut(&mut [f32], &[f32]) -> Vec<f32>,
    ) -> Vec<f32> {
        while self.0.len() <= layer {
            self.0.push(LayerState::default());
        }
        // ANCHOR: advance
        let LayerState { before, after, rows: last } = &mut self.0[layer];
        if start == 0 {
            *after = (0, vec![0.0; shape.state]);
        } else if after.0 != start {
            // Tokens of the last pass were rejected.
            after.clone_from(before);
            let read = (start - before.0) * shape.row;
            update(&mut after.1, &last[..read]);
        }
        before.0 = start;
        before.1.clone_from(&after.1);
        last.clear();
        // Tokens of a longer pass are never rejected.
        if rows.len() <= SHORT * shape.row {
            last.extend_from_slice(rows);
        }
        after.0 = start + rows.len() / shape.row;
        update(&mut after.1, rows)
        // ANCHOR_END: advance
    }

    /// The longest beginning of a sequence of `length` positions after which all states are known: all of it,
    /// or nothing, or what was there before the last pass.
    pub(crate) fn longest(&self, length: usize) -> usize {
        let of_layer = |layer: &LayerState| {
            let LayerState { before, after, rows } = layer;
            let is_known = length == after.0
                || length == before.0
                || (before.0..=after.0).contains(&length) && !rows.is_empty();
            match is_known {
                true => length,
                false if before.0 < length => before.0,
                false => 0,
            }
        };
        self.0.iter().map(of_layer).min().unwrap_or(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: StateShape = StateShape { state: 1, row: 1 };

    /// As if the numbers that were read were the digits of one.
    fn append(states: &mut States, start: usize, rows: &[f32]) -> f32 {
        let update = |state: &mut [f32], rows: &[f32]| {
            for row in rows {
                state[0] = 10.0 * state[0] + row;
            }
            state.to_vec()
        };
        states.advance(0, SHAPE, (start, rows), update)[0]
    }

    #[test]
    fn what_was_rejected_is_not_remembered() {
        let mut states = States::default();
        assert_eq!(append(&mut states, 0, &[1.0, 2.0]), 12.0);
        assert_eq!(append(&mut states, 2, &[3.0, 8.0, 9.0]), 12_389.0);
        assert_eq!([5, 4, 3, 2, 1].map(|length| states.longest(length)), [5, 4, 3, 2, 0]);
        assert_eq!(append(&mut states, 3, &[4.0]), 1234.0);
        assert_eq!(states.longest(2), 0);
        assert_eq!(append(&mut states.clone(), 3, &[7.0]), 1237.0);
        assert_eq!(append(&mut states, 4, &[5.0]), 12_345.0);
        assert_eq!(append(&mut states, 0, &[6.0]), 6.0);
    }

    #[test]
    fn a_snapshot_goes_on_from_where_it_was_made() {
        let mut states = States::default();
        append(&mut states, 0, &[1.0, 2.0]);
        append(&mut states, 2, &[3.0]);
        assert!(states.are_after(3) && !states.are_after(2));
        let mut copy = states.snapshot();
        assert_eq!([3, 2].map(|length| copy.longest(length)), [3, 0]);
        append(&mut states, 3, &[9.0]);
        assert_eq!(append(&mut copy, 3, &[4.0]), 1234.0);
        assert_eq!(append(&mut copy, 3, &[5.0]), 1235.0);
    }

    #[test]
    fn a_long_pass_is_undone_as_a_whole() {
        let mut states = States::default();
        append(&mut states, 0, &[1.0, 2.0]);
        append(&mut states, 2, &[0.0; SHORT + 1]);
        assert_eq!([SHORT + 3, 5, 2].map(|length| states.longest(length)), [SHORT + 3, 2, 2]);
        assert_eq!(append(&mut states, 2, &[3.0]), 123.0);
    }
}
