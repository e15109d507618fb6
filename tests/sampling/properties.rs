//! What holds for all inputs.

use proptest::prelude::*;

use super::*;

prop_compose! {
    fn logits()(logits in prop::collection::vec(-20f32..20.0, 1..600)) -> Vec<f32> {
        logits
    }
}

fn kept(params: &SamplingParams, logits: &[f32]) -> Vec<bool> {
    distribution(params, logits).iter().map(|&p| p > 0.0).collect()
}

fn is_within(fewer: &[bool], more: &[bool]) -> bool {
    fewer.iter().zip(more).all(|(&fewer, &more)| more || !fewer)
}

/// Numbers as f32 has them: small and large, whole and with a fraction, and both ends of its
/// range with what lies beside them.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        -20f32..20.0,
        {
            use prop::num::f32::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL};
            NORMAL | SUBNORMAL | POSITIVE | NEGATIVE
        },
        prop::sample::select(vec![
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
            f32::from_bits(1),
            -f32::from_bits(1),
            0.0,
            -0.0,
        ]),
    ]
}

/// Such a number above 0.
fn positive() -> impl Strategy<Value = f32> {
    number().prop_map(f32::abs).prop_filter("0", |&x| x > 0.0)
}

/// Such a number above 0, of 1 at most.
fn share() -> impl Strategy<Value = f32> {
    positive().prop_map(|x| x.min(x.recip()))
}

prop_compose! {
    /// Everything that `validate` lets through, its ends more often than their share.
    fn extreme_params()(
        temperature in prop_oneof![1 => Just(0.0), 4 => positive()],
        top_k in prop::option::of(prop_oneof![1usize..8, Just(usize::MAX)]),
        top_p in prop::option::of(share()),
        min_p in prop::option::of(prop_oneof![1 => Just(0.0), 4 => share()]),
        typical_p in prop::option::of(share()),
        repetition_penalty in positive(),
        frequency_penalty in -2f32..=2.0,
        presence_penalty in -2f32..=2.0,
        logit_bias in prop::collection::btree_map(0u32..9, -100f32..=100.0, 0..4),
        seed in any::<u64>(),
    ) -> SamplingParams {
        SamplingParams {
            temperature, top_k, top_p, min_p, typical_p, repetition_penalty, frequency_penalty,
            presence_penalty, logit_bias, seed,
        }
    }
}

prop_compose! {
    /// Of eight logits, some are removed from the start.
    fn extreme_logits()(
        logits in prop::collection::vec(prop_oneof![9 => number(), 1 => Just(f32::NEG_INFINITY)], 8)
            .prop_filter("nothing to choose", |logits| logits.iter().any(|x| x.is_finite())),
    ) -> Vec<f32> {
        logits
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// The bundled rules at the ends of what they are allowed to be: a distribution comes out of
    /// which a token is drawn that may be drawn, or an error that says whose scores were bad.
    #[test]
    fn parameters_at_their_extremes_give_a_distribution_or_an_error(
        params in extreme_params(), logits in extreme_logits(),
        prompt in prop::collection::vec(0u32..9, 0..6),
        output in prop::collection::vec(0u32..9, 0..6),
    ) {
        let mut sampler = Sampler::new(&params).unwrap();
        let found = match sampler.distribution(&logits, &prompt, &output) {
            Ok(found) => found,
            Err(Error::Request(RequestError::Scores { step, .. })) => {
                prop_assert_eq!(step, output.len());
                prop_assert!(sampler.sample(&logits, &prompt, &output).is_err());
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        prop_assert!(found.iter().all(|p| (0.0..=1.0).contains(p)), "{found:?}");
        let sum: f64 = found.iter().map(|&p| f64::from(p)).sum();
        prop_assert!((sum - 1.0).abs() < 1e-5, "{found:?}");
        for (p, logit) in found.iter().zip(&logits) {
            prop_assert!(*logit > f32::NEG_INFINITY || *p == 0.0, "{found:?} of {logits:?}");
        }
        let drawn = sampler.sample(&logits, &prompt, &output).unwrap() as usize;
        prop_assert!(found[drawn] > 0.0, "{drawn} of {found:?}");
        if params.temperature == 0.0 {
            prop_assert_eq!(survivors(&found), 1);
        }
    }
}

proptest! {
    #[test]
    fn something_survives_and_the_rest_sums_to_one(
        logits in logits(), temperature in 0.05f32..5.0, k in 1usize..700, p in 0.01f32..=1.0,
        min_p in 0f32..=1.0, typical_p in 0.01f32..=1.0,
    ) {
        let params = SamplingParams {
            temperature, top_k: Some(k), top_p: Some(p), min_p: Some(min_p),
            typical_p: Some(typical_p), ..SamplingParams::default()
        };
        let found = distribution(&params, &logits);
        prop_assert!(survivors(&found) >= 1);
        let sum: f64 = found.iter().map(|&p| f64::from(p)).sum();
        prop_assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    }

    #[test]
    fn a_greater_k_or_p_keeps_no_less(
        logits in logits(), k in 1usize..300, more in 0usize..300, p in 0.01f32..0.99,
        rest in 0f32..=1.0,
    ) {
        let top_k = |k| SamplingParams { top_k: Some(k), ..SamplingParams::default() };
        prop_assert!(is_within(&kept(&top_k(k), &logits), &kept(&top_k(k + more), &logits)));
        let top_p = |p| SamplingParams { top_p: Some(p), ..SamplingParams::default() };
        let greater = p + (1.0 - p) * rest;
        prop_assert!(is_within(&kept(&top_p(p), &logits), &kept(&top_p(greater), &logits)));
        let min_p = |p| SamplingParams { min_p: Some(p), ..SamplingParams::default() };
        prop_assert!(is_within(&kept(&min_p(greater), &logits), &kept(&min_p(p), &logits)));
    }

    #[test]
    fn the_nucleus_reaches_p_and_needs_every_one_of_its_tokens(
        logits in logits(), p in 0.01f32..=1.0,
    ) {
        let raw = softmax(&logits);
        let params = SamplingParams { top_p: Some(p), ..SamplingParams::default() };
        let mut nucleus: Vec<f64> = kept(&params, &logits)
            .iter().zip(&raw).filter(|(kept, _)| **kept).map(|(_, &p)| f64::from(p)).collect();
        let mass: f64 = nucleus.iter().sum();
        prop_assert!(mass >= f64::from(p) - 1e-5, "{mass} does not reach {p}");
        nucleus.sort_by(f64::total_cmp);
        prop_assert!(mass - nucleus[0] < f64::from(p) + 1e-5, "{mass} is more than {p} needs");
    }

    #[test]
    fn what_is_kept_is_at_least_as_likely_as_what_is_not(
        logits in logits(), k in 1usize..300, p in 0.01f32..=1.0,
    ) {
        for params in [
            SamplingParams { top_k: Some(k), ..SamplingParams::default() },
            SamplingParams { top_p: Some(p), ..SamplingParams::default() },
            SamplingParams { min_p: Some(p), ..SamplingParams::default() },
        ] {
            let (mut least, mut greatest) = (f32::INFINITY, f32::NEG_INFINITY);
            for (&logit, kept) in logits.iter().zip(kept(&params, &logits)) {
                if kept {
                    least = least.min(logit);
                } else {
                    greatest = greatest.max(logit);
                }
            }
            // Removed tokens of a vanishing probability may round to the same as kept ones.
            prop_assert!(least >= greatest - 1e-3, "{least} was kept and {greatest} not");
        }
    }

    #[test]
    fn the_order_of_the_vocabulary_does_not_matter(
        logits in logits(), k in 1usize..300, p in 0.01f32..0.99, shift in 0usize..600,
    ) {
        let params = SamplingParams { top_k: Some(k), top_p: Some(p), ..SamplingParams::default() };
        let shift = shift % logits.len();
        let mut turned = logits.clone();
        turned.rotate_left(shift);
        let mut found = distribution(&params, &turned);
        found.rotate_right(shift);
        let sorted = |mut values: Vec<f32>| { values.sort_by(f32::total_cmp); values };
        // Of equals, which one stays depends on the order; how likely the kept ones are, not.
        assert_close(&sorted(found), &sorted(distribution(&params, &logits)), 1e-5);
    }
}
