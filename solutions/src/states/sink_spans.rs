//! A sink, and attention in parts.
//!
//! Why: a sink belongs to the head, and not to a span. As one more score it has a part in the greatest and in the sum,
//! and both are known when the spans are merged, so that is where it comes in.
//!
//! What it costs: one `exp` for each head.
//!
//! A common wrong turn: adding the sink to each span's sum. The result then depends on how many spans a kernel makes,
//! which is to say on the length of the text and the number of threads.

/// What attention has computed over some of the keys.
#[derive(Debug, Clone)]
pub struct Span {
    /// The greatest score: -inf, if there are no keys.
    pub greatest: f32,
    /// The sum of `exp(score - greatest)`.
    pub sum: f32,
    /// The sum of the values, each times its `exp(score - greatest)`: `[value_dim]`.
    pub mixed: Vec<f32>,
}

/// What a head takes up, `[value_dim]`, from what was computed over spans of its keys.
pub fn sink_spans(spans: &[Span], sink: Option<f32>) -> Vec<f32> {
    let scores = spans.iter().map(|span| span.greatest);
    let greatest = scores.chain(sink).fold(f32::NEG_INFINITY, f32::max);
    let mut sum = sink.map_or(0.0, |sink| (sink - greatest).exp());
    let mut mixed = vec![0.0; spans.first().map_or(0, |span| span.mixed.len())];
    for span in spans {
        let scale = (span.greatest - greatest).exp();
        sum += scale * span.sum;
        mixed.iter_mut().zip(&span.mixed).for_each(|(all, mixed)| *all += scale * mixed);
    }
    mixed.iter().map(|mixed| mixed / sum).collect()
}
