//! The log-probability of the end token does not count.

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
            text.finished = id == end;
            if !text.finished {
                text.log_probability += log_probability;
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
