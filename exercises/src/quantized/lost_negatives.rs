//! A bug hunt: some groups lose half of their weights.

/// Quantizes a group to 8-bit integers: its scale, and an integer from -127 to 127 for each weight.
///
/// The weight of greatest magnitude becomes 127 or -127, and no weight is further than half a scale
/// from its integer times the scale. Where all weights are 0, scale and integers are 0.
///
/// **What was observed.** The model in int8 writes nonsense, though most of its matrices are stored
/// well. Of some groups, all weights that should be great and negative are read too near to zero, and
/// all of those are the same. In groups without a positive weight nothing is left at all.
///
/// Find the reason, and mend it. What should be:
///
/// ```text
/// weights -2.54 1.27     -> scale 0.02, integers -127 64 (or 63)
/// ```
pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let mut greatest = 0.0;
    for weight in weights {
        if *weight > greatest {
            greatest = *weight;
        }
    }
    if greatest == 0.0 {
        return (0.0, vec![0; weights.len()]);
    }
    let scale = greatest / 127.0;
    let integer = |weight: &f32| (weight / scale).round().clamp(-127.0, 127.0) as i8;
    (scale, weights.iter().map(integer).collect())
}
