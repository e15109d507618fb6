//! The rank of an end is counted among those that go on, without other ends.

/// A text that the search follows, or one that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Beam {
    /// The prompt and the new tokens, without the end token.
    pub ids: Vec<u32>,
    /// The log-probability of all new tokens together, that of the end token included.
    pub log_probability: f32,
}

/// What a step makes of the beams. Both lists have their most likely text first.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The beams of the next step.
    pub going_on: Vec<Beam>,
    /// The texts that this step has ended. They are set aside.
    pub ended: Vec<Beam>,
}

pub fn beam_step(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    beams: &[Beam],
    end: u32,
    width: usize,
) -> Step {
    let mut candidates = Vec::new(); // the beam, its next token, the log-probability of both
    for beam in beams {
        for (id, ln) in (0..).zip(model(&beam.ids)) {
            candidates.push((beam, id, beam.log_probability + ln));
        }
    }
    candidates.retain(|&(_, _, ln)| ln > f32::NEG_INFINITY);
    // A stable sort: equals stay in the order of the beams and of the ids.
    candidates.sort_by(|(_, _, a), (_, _, b)| b.total_cmp(a));

    let mut step = Step { going_on: Vec::new(), ended: Vec::new() };
    for (rank, (beam, id, log_probability)) in candidates.into_iter().enumerate() {
        let mut ids = beam.ids.clone();
        if id == end {
            if rank < usize::MAX && step.going_on.len() < width {
                step.ended.push(Beam { ids, log_probability });
            }
        } else if step.going_on.len() < width {
            ids.push(id);
            step.going_on.push(Beam { ids, log_probability });
        }
    }
    step
}
