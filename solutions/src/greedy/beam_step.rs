//! One step of a beam search.
//!
//! Why: all continuations of all beams compete in one list. That is the whole difference from
//! several independent greedy searches: two of the best may come from one beam, and another beam
//! may have no successor. A text that ends is ranked in the same list, because an end that is less
//! likely than the texts you follow is no result. But it takes no place from them, since there is
//! nothing left to do for it.
//!
//! What it costs: one call of the model for each beam, and a sort of `beams * vocab` candidates.
//! Here a candidate is three numbers, and only the texts that stay are copied. The book's code also
//! picks the few best tokens of each beam before it sorts.
//!
//! A common wrong turn: comparing only the log-probability of the new token. Then a text that was
//! unlikely so far wins with one certain token.

/// A text that the search follows, or a text that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Beam {
    /// The prompt and the new tokens, without the end token.
    pub ids: Vec<u32>,
    /// The log-probability of all new tokens together, including the end token.
    pub log_probability: f32,
}

/// What a step makes of the beams. Both lists have their most likely text first.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The beams for the next step.
    pub going_on: Vec<Beam>,
    /// The texts that ended in this step. They are set aside.
    pub ended: Vec<Beam>,
}

/// Continues all beams by one token, and keeps the most likely of all texts.
///
/// `model` takes the ids of a text and gives the log-probabilities of the token that follows,
/// `[vocab]`. The token `end` ends a text and is not appended to it. Such a text is set aside if it is
/// among the `width` best of all. Of the others, the `width` best go on.
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
            if rank < width {
                step.ended.push(Beam { ids, log_probability });
            }
        } else if step.going_on.len() < width {
            ids.push(id);
            step.going_on.push(Beam { ids, log_probability });
        }
    }
    step
}
