//! Each text is put in its place in a list of at most `width`.

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
    let mut best: Vec<Beam> = Vec::new();
    let mut add = |text: Beam| {
        let place = best.partition_point(|other| other.log_probability >= text.log_probability);
        best.insert(place, text);
        best.truncate(width);
    };
    for beam in beams {
        if beam.finished {
            add(beam.clone());
            continue;
        }
        for (id, ln) in model(&beam.ids).into_iter().enumerate() {
            if ln == f32::NEG_INFINITY {
                continue;
            }
            let (id, mut ids) = (id as u32, beam.ids.clone());
            if id != end {
                ids.push(id);
            }
            add(Beam {
                ids,
                log_probability: beam.log_probability + ln,
                finished: id == end,
            });
        }
    }
    best
}
