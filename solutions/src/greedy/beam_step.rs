//! One step of a beam search.
//!
//! Why: all continuations of all beams compete in one list. That is the whole difference to several
//! greedy searches side by side: two of the best may come from one beam, and another beam may have
//! no successor. A finished text is in the same list, as it is. If enough better ones come, it
//! falls out.
//!
//! What it costs: one call of the model for each beam that is not finished, and a sort of
//! `width * vocab` texts. Here each of them is copied. The book's code keeps the number of the beam
//! and the token instead, and takes the few best tokens of each beam before it sorts.
//!
//! A common wrong turn: to compare by the log-probability of the new token alone. Then a text that
//! was unlikely so far wins with one certain token.

/// A text that the search follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Beam {
    /// The prompt and the new tokens, without the end token.
    pub ids: Vec<u32>,
    /// The log-probability of all new tokens together, that of the end token included.
    pub log_probability: f32,
    /// Whether the end token was chosen.
    pub finished: bool,
}

/// Continues all beams by one token, and keeps the `width` most likely of all texts, best first.
///
/// `model` takes the ids of a text and gives the log-probabilities of the token that follows,
/// `[vocab]`. The token `end` finishes a text and is not appended to it. A finished beam stays, and
/// competes like the others.
pub fn beam_step(
    model: &dyn Fn(&[u32]) -> Vec<f32>,
    beams: &[Beam],
    end: u32,
    width: usize,
) -> Vec<Beam> {
    let mut texts = Vec::new();
    for beam in beams {
        if beam.finished {
            texts.push(beam.clone());
            continue;
        }
        for (id, log_probability) in (0..).zip(model(&beam.ids)) {
            let mut text = beam.clone();
            text.log_probability += log_probability;
            text.finished = id == end;
            if !text.finished {
                text.ids.push(id);
            }
            texts.push(text);
        }
    }
    texts.retain(|text| text.log_probability > f32::NEG_INFINITY);
    // A stable sort: equals stay in the order of the beams and of the ids.
    texts.sort_by(|a, b| b.log_probability.total_cmp(&a.log_probability));
    texts.truncate(width);
    texts
}
