//! A point on a line of probabilities.
//!
//! Why: a stretch that is twice as long is hit by twice as many points, so points that are spread
//! evenly draw each token as often as its probability says. The walk ends at the first token whose
//! end lies behind the point. `<` and not `<=` gives the end to the next token, and a stretch of
//! length 0 to nobody.
//!
//! What it costs: one pass, half of the vocabulary on average. To draw many times from the same
//! distribution, one would store the running sums and search them by halving.
//!
//! A common wrong turn: to return the last token of the vocabulary where the walk finds nothing.
//! The sum is often a little below 1, and once in some million draws a token comes out that was
//! removed.

/// The token on whose stretch of the line `point` lies. A point after the end of the line belongs
/// to the last token that has a stretch.
///
/// `probabilities` is `[vocab]`, with at least one above 0, and `point` is from 0 up to but
/// without 1.
pub fn draw(probabilities: &[f32], point: f64) -> usize {
    let mut drawn = 0;
    let mut end = 0.0;
    for (id, &probability) in probabilities.iter().enumerate() {
        if probability == 0.0 {
            continue;
        }
        drawn = id;
        end += f64::from(probability);
        if point < end {
            break;
        }
    }
    drawn
}
