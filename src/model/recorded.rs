//! Decode steps on a GPU, recorded once and replayed.
//!
//! A step has hundreds of launches, and the host takes longer to start one than a GPU takes to compute it. But from
//! step to step little changes: the ids, the angles of their positions, and the slots to read. So these lists
//! keep their place in memory, the launches are recorded, and a step that has the same shape as one before it
//! writes the lists and launches everything by one call. Its bits are the same.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use burn::tensor::{DType, Device, Element, TensorData};

use super::architecture::{Found, numbers_of};
use super::decoder::Decoder;
use super::network::Output;
use super::pass::Pass;
use super::rope::{Rope, Ropes, Rotation};
use crate::cube::attention::{Plan, PlanData, PlanShape};
use crate::cube::blocks::SlotShape;
use crate::cube::recording::{List, Recording};
use crate::device::{alone_in_queue, in_one_queue};
use crate::error::{DeviceError, Error, Result};

/// The most rows of a step that is recorded: the memory between its launches is kept.
const MOST_ROWS: usize = 64;
/// How often in a row a shape comes before it is recorded, which takes as long as three steps.
const REPEATS: usize = 3;
/// How many recordings are kept.
const KEPT: usize = 8;

/// The recordings of a model.
#[derive(Debug)]
pub(super) struct Recorder {
    n_heads: usize,
    /// The type of hidden states.
    dtype: DType,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the device or its driver cannot record.
    is_refused: bool,
    /// The shape of the last step, and how often in a row it came.
    last: Option<(Shape, usize)>,
    /// The one that was used last is in front.
    kept: VecDeque<Recorded>,
}

/// What decides which launches a step has.
#[derive(Debug, Clone, PartialEq)]
struct Shape {
    output: Output,
    rows: usize,
    /// How many slots the layers have.
    slots: usize,
    plans: Vec<(SlotShape, PlanShape, usize)>,
}

/// A step that was recorded.
#[derive(Debug)]
struct Recorded {
    shape: Shape,
    lists: Vec<List>,
    found: Found,
    launches: Recording,
}

impl Recorder {
    /// For a decoder with so many query heads. None for one some layers of which compute on the host.
    pub(super) fn of(
        decoder: &Decoder,
        ropes: &Ropes,
        n_heads: usize,
        dtype: DType,
    ) -> Option<Self> {
        let grow = ropes.iter().any(|rope| rope.growth(&[]).is_some());
        (decoder.is_dense() && !grow).then(|| Self { n_heads, dtype, state: Mutex::default() })
    }

    /// What [`Decoder`] finds for all rows of a step, from a recording of a step like it, or from one that is made
    /// now. None where there is none yet.
    ///
    /// # Errors
    /// A device that fails.
    pub(super) fn step(
        &self,
        (decoder, ropes): (&Decoder, &Ropes),
        row: &[u32],
        pass: &mut Pass<'_>,
        output: Output,
        device: &Device,
    ) -> Result<Option<Found>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.is_refused || row.len() > MOST_ROWS {
            return Ok(None);
        }
        let Some((plans, slots)) = pass.plans(self.n_heads, self.dtype) else {
            return Ok(None);
        };
        let of_plan = |(slot, plan): &(_, PlanData)| (*slot, plan.shape, plan.numbers.len());
        let shape = Shape {
            output,
            rows: row.len(),
            slots,
            plans: plans.iter().map(of_plan).collect(),
        };
        let positions = pass.positions();
        let lists = || {
            let tables = ropes.iter().map(|rope| list(rope.tables(&positions).concat()));
            let plans = plans.into_iter().map(|(_, plan)| list(plan.numbers));
            [list(numbers_of(row))].into_iter().chain(tables).chain(plans).collect::<Vec<_>>()
        };

        if let Some(at) = state.kept.iter().position(|recorded| recorded.shape == shape) {
            state.kept.make_contiguous()[..=at].rotate_right(1);
            return in_one_queue(device, || state.kept[0].replay(lists())).map(Some);
        }
        let repeats = match &state.last {
            Some((last, repeats)) if *last == shape => repeats + 1,
            _ => 1,
        };
        state.last = Some((shape.clone(), repeats));
        if repeats < REPEATS {
            return Ok(None);
        }
        let lists = lists();
        let recorded = alone_in_queue(|| {
            let fixed: Vec<_> = lists.iter().map(|list| List::new(list.clone(), device)).collect();
            let work = || shape.launch(&fixed, (decoder, ropes), pass);
            let (found, launches) = Recording::of(device, work)?;
            Some(Recorded { shape: shape.clone(), lists: fixed, found, launches })
        });
        match recorded {
            None => Ok(None), // another thread launches
            Some(None) => {
                state.is_refused = true;
                Ok(None)
            }
            Some(Some(recorded)) => {
                state.kept.push_front(recorded);
                state.kept.truncate(KEPT);
                in_one_queue(device, || state.kept[0].replay(lists)).map(Some)
            }
        }
    }
}

impl Shape {
    /// Launches a step whose lists are in this memory.
    fn launch(
        &self,
        lists: &[List],
        (decoder, ropes): (&Decoder, &Ropes),
        pass: &mut Pass<'_>,
    ) -> Found {
        let (ids, lists) = lists.split_at(1);
        let (tables, plans) = lists.split_at(ropes.iter().count());
        let ids = ids[0].ints().unsqueeze(); // [1, rows]
        let rotation = |(rope, table): (&Rope, &List)| {
            Rotation::of(table.floats().reshape([2, self.rows, rope.frequencies().len()]))
        };
        let rotations: Vec<_> = ropes.iter().zip(tables).map(rotation).collect();
        let plans = self.plans.iter().zip(plans);
        pass.follow(
            plans.map(|((slot, plan, _), list)| (*slot, Plan::of(list.ints(), *plan))).collect(),
        );
        let hidden = decoder.hidden_states_at(ids, &rotations, pass);
        self.output.of(hidden, |hidden| decoder.logits(hidden))
    }
}

impl Recorded {
    fn replay(&self, lists: Vec<TensorData>) -> Result<Found> {
        for (list, numbers) in self.lists.iter().zip(lists) {
            list.write(numbers);
        }
        let failed = |error| Error::Device(DeviceError::Failed(error));
        self.launches.replay().map_err(failed)?;
        Ok(self.found.clone())
    }
}

/// `[length]`
fn list<T: Element>(numbers: Vec<T>) -> TensorData {
    let length = numbers.len();
    TensorData::new(numbers, [length])
}
