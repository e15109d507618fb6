//! Many points on one line of probabilities.
//!
//! Why: a stretch that is twice as long is hit by twice as many points, so evenly spread points
//! draw each token as often as its probability demands. The ends of the stretches never fall along
//! the line, so you can search them by halving: the token is the first whose end lies behind the
//! point. `<=` and not `<` gives the end to the next token. A stretch of length 0 ends where the
//! one before it does, so it is never the first.
//!
//! What it costs: one pass for the ends, and for each point as many steps as it takes to halve the
//! vocabulary down to one token, 16 for 50,000. The chapter's walk needs no memory, and for a
//! single point it is as fast as making the ends.
//!
//! A common wrong turn: returning the last token of the vocabulary if the search finds nothing. The
//! sum is often a little below 1, and once in some million draws you get a token that was removed.

/// For each point, the token on whose stretch of the line it lies. A point after the end of the line
/// belongs to the last token that has a stretch.
///
/// `probabilities` is `[vocab]`, with at least one above 0, and each point is from 0 up to but
/// without 1.
pub fn draw(probabilities: &[f32], points: &[f64]) -> Vec<usize> {
    let mut sum = 0.0;
    let mut ends = Vec::with_capacity(probabilities.len()); // where each stretch ends
    for &probability in probabilities {
        sum += f64::from(probability);
        ends.push(sum);
    }
    // The last stretch is the first that reaches the end of the line.
    let last = ends.partition_point(|&end| end < sum);
    points.iter().map(|&point| ends.partition_point(|&end| end <= point).min(last)).collect()
}
