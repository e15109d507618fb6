//! Shares out the missing mass in equal parts.

pub fn renormalise(probabilities: &[f32], kept: &[bool]) -> Vec<f32> {
    let count = kept.iter().filter(|&&kept| kept).count() as f32;
    let missing: f32 =
        probabilities.iter().zip(kept).filter(|(_, kept)| !**kept).map(|(p, _)| p).sum();
    probabilities
        .iter()
        .zip(kept)
        .map(|(&p, &kept)| if kept { p + missing / count } else { 0.0 })
        .collect()
}
