//! What the tests of kernels share.

/// Numbers from -2 to 2 without a pattern.
pub(super) fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 22) as f32 - 2.0
    };
    (0..count).map(|_| next()).collect()
}

/// Fails where a number is farther from its reference than this share of the greatest of these.
#[track_caller]
pub(super) fn close(found: &[f32], reference: &[f64], share: f64) {
    assert_eq!(found.len(), reference.len());
    let greatest = reference.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for (i, (&found, &reference)) in found.iter().zip(reference).enumerate() {
        let distance = (f64::from(found) - reference).abs();
        assert!(distance <= share * greatest, "{found} at {i}, and not {reference}");
    }
}
