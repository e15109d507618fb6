//! Only numbers are sorted, and the texts made of those that stay.

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
    let mut all = Vec::new();
    for (at, beam) in beams.iter().enumerate() {
        if beam.finished {
            all.push((beam.log_probability, at, end));
            continue;
        }
        for (id, ln) in model(&beam.ids).into_iter().enumerate() {
            if ln.is_finite() {
                all.push((beam.log_probability + ln, at, id as u32));
            }
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let text = |&(log_probability, at, id): &(f32, usize, u32)| {
        let mut ids = beams[at].ids.clone();
        if id != end {
            ids.push(id);
        }
        Beam { ids, log_probability, finished: id == end }
    };
    all.iter().take(width).map(text).collect()
}
