//! Sampling against transformers' answers, against its own rules for all inputs, and against
//! chance: what is drawn must come as often as its probability says.

use std::sync::Arc;

use proptest::prelude::*;
use serde::Deserialize;
use slowburn::sampling::statistics::survivors;
use slowburn::sampling::{Sampler, SamplingParams, logprobs, softmax};
use slowburn::{DeviceError, Error, RequestError};

const LOGITS: [f32; 4] = [2.0, 1.5, 1.0, 0.5];

fn distribution(params: &SamplingParams, logits: &[f32]) -> Vec<f32> {
    Sampler::new(params).unwrap().distribution(logits, &[], &[]).unwrap()
}

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (id, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "token {id}: {found} is not {expected}");
    }
}

/// One case of `sampling.json`.
#[derive(Deserialize)]
struct Case {
    logits: Vec<f32>,
    history: Vec<u32>,
    params: SamplingParams,
    survivors: Vec<usize>,
    probs: Vec<f32>,
}

#[test]
fn survivors_and_probabilities_are_those_of_transformers() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("fixtures/sampling.json")).unwrap();
    assert!(cases.len() >= 39);
    for (i, case) in cases.iter().enumerate() {
        let sampler = Sampler::new(&case.params).unwrap();
        let found = sampler.distribution(&case.logits, &case.history, &[]).unwrap();
        let kept: Vec<usize> = (0..found.len()).filter(|&id| found[id] > 0.0).collect();
        // A token far down the tail survives, but its probability is too small for an f32.
        let expected: Vec<usize> =
            case.survivors.iter().copied().filter(|&id| case.probs[id] > 0.0).collect();
        assert_eq!(kept, expected, "case {i}: {:?}", case.params);
        assert_close(&found, &case.probs, 1e-5);
    }
}

#[test]
fn temperature_sharpens_and_flattens() {
    for (temperature, expected) in [
        (1.0, [0.455, 0.276, 0.167, 0.102]),
        (0.5, [0.644, 0.237, 0.087, 0.032]),
        (2.0, [0.350, 0.273, 0.212, 0.165]),
    ] {
        let params = SamplingParams { temperature, ..SamplingParams::default() };
        assert_close(&distribution(&params, &LOGITS), &expected, 5e-4);
    }
}

#[test]
fn softmax_depends_on_differences_alone() {
    assert_close(&softmax(&[11.0, 12.0, 13.0]), &[0.0900, 0.2447, 0.6652], 5e-5);
    assert_close(&softmax(&[1.0, 2.0, 3.0]), &[0.0900, 0.2447, 0.6652], 5e-5);
    assert_close(&softmax(&[0.01, 0.02, 0.03]), &[0.3300, 0.3333, 0.3367], 5e-5);
}

#[test]
fn a_tiny_temperature_is_greedy_and_does_not_overflow() {
    let params = SamplingParams { temperature: 1e-6, ..SamplingParams::default() };
    assert_eq!(distribution(&params, &LOGITS), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(distribution(&params, &[-3e38, 3e38]), [0.0, 1.0]);
}

#[test]
fn temperature_zero_is_greedy_after_the_penalties_and_without_other_filters() {
    let greedy = SamplingParams {
        temperature: 0.0,
        top_k: Some(3),
        ..SamplingParams::default()
    };
    assert_eq!(distribution(&greedy, &[1.0, 3.0, 3.0, 0.0]), [0.0, 1.0, 0.0, 0.0]);
    let penalised = SamplingParams { repetition_penalty: 2.0, ..greedy };
    let sampler = Sampler::new(&penalised).unwrap();
    let found = sampler.distribution(&[1.0, 3.0, 2.0, 0.0], &[1], &[]).unwrap();
    assert_eq!(found, [0.0, 0.0, 1.0, 0.0]);
}

/// A sum of f32 reaches 1 long before the last of a thousand unlikely tokens.
#[test]
fn a_share_of_one_keeps_every_token() {
    let mut logits = vec![-20.0; 1000];
    logits[0] = 5.0;
    let plain = SamplingParams::default();
    for params in [
        SamplingParams { top_p: Some(1.0), ..plain.clone() },
        SamplingParams { typical_p: Some(1.0), ..plain },
    ] {
        let distribution = Sampler::new(&params).unwrap().distribution(&logits, &[], &[]).unwrap();
        assert!(distribution.iter().all(|&p| p > 0.0), "{params:?}");
    }
}

// ANCHOR: edge
/// Probabilities of 1/2, 1/4, 1/8 and 1/8 are exact, and so are their sums: at p = 0.75 two
/// tokens reach it. A rule that went on until the sum is greater than p would keep three.
#[test]
fn top_p_stops_as_soon_as_p_is_reached() {
    let logits = [0.5f32, 0.25, 0.125, 0.125].map(f32::ln);
    for (p, kept) in [
        (0.25, 1),
        (0.5, 1),
        (0.625, 2),
        (0.75, 2),
        (0.8, 3),
        (1.0, 4),
    ] {
        let params = SamplingParams { top_p: Some(p), ..SamplingParams::default() };
        assert_eq!(survivors(&distribution(&params, &logits)), kept, "p = {p}");
    }
}
// ANCHOR_END: edge

/// Two of five tokens share the second place: k = 2 keeps both of them.
#[test]
fn top_k_keeps_all_that_are_as_likely_as_the_last() {
    let params = SamplingParams { top_k: Some(2), ..SamplingParams::default() };
    let found = distribution(&params, &[3.0, 1.0, 2.0, 2.0, 0.0]);
    assert_eq!(
        found.iter().map(|&p| p > 0.0).collect::<Vec<_>>(),
        [true, false, true, true, false]
    );
}

#[test]
fn the_repetition_penalty_lowers_a_score_of_either_sign_once() {
    let params = SamplingParams { repetition_penalty: 2.0, ..SamplingParams::default() };
    let sampler = Sampler::new(&params).unwrap();
    let found = sampler.distribution(&[1.0, -1.0, 0.0], &[0, 0, 1], &[1, 0]).unwrap();
    assert_close(&found, &softmax(&[0.5, -2.0, 0.0]), 1e-6);
}

#[test]
fn frequency_and_presence_count_in_the_output_alone() {
    let params = SamplingParams {
        frequency_penalty: 0.5,
        presence_penalty: 1.0,
        ..SamplingParams::default()
    };
    let sampler = Sampler::new(&params).unwrap();
    let found = sampler.distribution(&[1.0, 1.0, 1.0], &[2, 2], &[0, 0, 1]).unwrap();
    assert_close(&found, &softmax(&[-1.0, -0.5, 1.0]), 1e-6);
}

#[test]
fn a_logit_bias_is_added_before_everything_else() {
    let biased = |logit_bias: &[(u32, f32)]| SamplingParams {
        logit_bias: logit_bias.iter().copied().collect(),
        ..SamplingParams::default()
    };
    let params = biased(&[(0, -1.5), (2, 3.0)]);
    assert_eq!(distribution(&params, &[1.0, 2.0, 0.5]), softmax(&[-0.5, 2.0, 3.5]));
    // Before the temperature divides.
    let hot = SamplingParams { temperature: 2.0, ..params.clone() };
    assert_close(&distribution(&hot, &[1.0, 2.0, 0.5]), &softmax(&[-0.25, 1.0, 1.75]), 1e-6);
    // Greedy takes the best of the sums.
    let greedy = SamplingParams { temperature: 0.0, ..params.clone() };
    assert_eq!(distribution(&greedy, &[1.0, 2.0, 0.5]), [0.0, 0.0, 1.0]);
    // The repetition penalty divides the sum: 1 - 1.5 is negative, and so is multiplied.
    let penalised = SamplingParams { repetition_penalty: 2.0, ..params };
    let found = Sampler::new(&penalised).unwrap().distribution(&[1.0, 2.0, 0.5], &[0, 2], &[]);
    assert_eq!(found.unwrap(), softmax(&[-1.0, 2.0, 1.75]));
    // The ends all but force and all but ban, and what is removed stays removed.
    let ends = biased(&[(0, -100.0), (1, 100.0), (2, 100.0)]);
    let found = distribution(&ends, &[5.0, -5.0, f32::NEG_INFINITY, 4.0]);
    assert!(found[1] > 0.999_999 && found[2] == 0.0, "{found:?}");
}

#[test]
fn a_logit_bias_is_within_bounds_and_for_tokens_that_exist() {
    let read = |json: &str| serde_json::from_str::<SamplingParams>(json);
    let params = read(r#"{"logit_bias": {"3": -100, "0": 1.5}}"#).unwrap();
    assert_eq!(params.logit_bias, [(0, 1.5), (3, -100.0)].into());
    assert_eq!(read(&serde_json::to_string(&params).unwrap()).unwrap(), params);
    params.validate().unwrap();
    params.check_vocabulary(4).unwrap();
    let error = params.check_vocabulary(3).unwrap_err().to_string();
    assert!(error.starts_with("logit_bias is for token id 3"), "{error}");
    for (bias, problem) in [
        (-100.5, "-100.5 for token id 7"),
        (101.0, "101"),
        (f32::NAN, "NaN"),
    ] {
        let params = SamplingParams { logit_bias: [(7, bias)].into(), ..SamplingParams::default() };
        let error = params.validate().unwrap_err().to_string();
        assert!(error.contains(problem) && error.ends_with("from -100 to 100"), "{error}");
    }
    for (wrong, problem) in [
        (r#"{"logit_bias": {"a": 1}}"#, "a token id"),
        (r#"{"logit_bias": {"-1": 1}}"#, "a token id"),
        (r#"{"logit_bias": {"4294967296": 1}}"#, "a token id"),
        (r#"{"logit_bias": [1]}"#, "a map from token ids"),
        (r#"{"logit_bias": {"1": "much"}}"#, "f32"),
    ] {
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_rule_of_the_callers_own_is_applied_and_checked() {
    let ban = |banned: &'static [usize]| {
        let rule = move |scores: &mut [f32], _: &[u32], _: &[u32]| {
            for &id in banned {
                scores[id] = f32::NEG_INFINITY;
            }
        };
        Sampler::new(&SamplingParams::default()).unwrap().with_rule(Arc::new(rule))
    };
    let found = ban(&[0]).distribution(&LOGITS, &[], &[]).unwrap();
    assert_eq!(found[0], 0.0);
    let error = ban(&[0, 1, 2, 3]).distribution(&LOGITS, &[], &[7, 7]).unwrap_err();
    assert!(matches!(error, Error::Request(RequestError::Scores { step: 2, .. })), "{error}");
}

#[test]
fn logits_that_cannot_be_used_are_refused_with_their_step() {
    let mut sampler = Sampler::new(&SamplingParams::default()).unwrap();
    for bad in [
        &[f32::NAN, 1.0][..],
        &[f32::NEG_INFINITY; 3],
        &[],
        &[f32::INFINITY, 0.0],
    ] {
        let error = sampler.sample(bad, &[9], &[1, 2, 3]).unwrap_err();
        assert!(matches!(error, Error::Device(DeviceError::Logits { step: 3, .. })), "{error}");
    }
}

#[test]
fn parameters_out_of_range_are_named_with_their_value() {
    let bad = [
        ("temperature", "-1"),
        ("temperature", "1e39"),
        ("top_k", "0"),
        ("top_p", "0"),
        ("top_p", "1.5"),
        ("min_p", "-0.5"),
        ("min_p", "1.5"),
        ("typical_p", "0"),
        ("repetition_penalty", "0"),
        ("repetition_penalty", "-1"),
        ("frequency_penalty", "2.5"),
        ("presence_penalty", "-2.5"),
    ];
    for (name, value) in bad {
        let json = format!("{{\"{name}\": {value}}}");
        let Ok(params) = serde_json::from_str::<SamplingParams>(&json) else {
            continue; // serde itself refuses what an f32 can't hold
        };
        let error = params.validate().unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
    for nan in [
        SamplingParams { temperature: f32::NAN, ..SamplingParams::default() },
        SamplingParams { top_p: Some(f32::NAN), ..SamplingParams::default() },
        SamplingParams { min_p: Some(f32::NAN), ..SamplingParams::default() },
        SamplingParams { repetition_penalty: f32::NAN, ..SamplingParams::default() },
        SamplingParams { presence_penalty: f32::NAN, ..SamplingParams::default() },
    ] {
        assert!(nan.validate().unwrap_err().to_string().contains("NaN"));
    }
    assert!(serde_json::from_str::<SamplingParams>("{\"topk\": 3}").is_err());
}

#[test]
fn the_same_seed_draws_the_same_tokens_in_every_release() {
    let draws = |seed| {
        let mut sampler =
            Sampler::new(&SamplingParams { seed, ..SamplingParams::default() }).unwrap();
        (0..16).map(|_| sampler.sample(&LOGITS, &[], &[]).unwrap()).collect::<Vec<_>>()
    };
    assert_ne!(draws(1), draws(2));
    assert_eq!(draws(1), SEED_1_DRAWS);
}

/// Written down once: a change here changes every text that people have a seed for.
const SEED_1_DRAWS: [u32; 16] = [3, 1, 0, 0, 0, 3, 0, 1, 1, 0, 0, 0, 3, 0, 0, 0];

#[test]
fn what_was_removed_is_not_drawn_in_a_million_draws() {
    let params = SamplingParams { top_k: Some(3), seed: 3, ..SamplingParams::default() };
    let mut sampler = Sampler::new(&params).unwrap();
    let logits = [f32::NEG_INFINITY, 1.0, 0.5, f32::NEG_INFINITY, 0.7, 0.1];
    let mut counts = [0u32; 6];
    for _ in 0..1_000_000 {
        counts[sampler.sample(&logits, &[], &[]).unwrap() as usize] += 1;
    }
    assert_eq!([counts[0], counts[3], counts[5]], [0, 0, 0], "{counts:?}");
}

/// Chi-squared: the sum of (found - expected)^2 / expected. With `n - 1` degrees of freedom it
/// exceeds these bounds once in a thousand times; the seeds are fixed, so it does not.
#[test]
fn tokens_come_as_often_as_their_probabilities_say() {
    let cases = [
        (SamplingParams { seed: 11, ..SamplingParams::default() }, 16.27),
        (
            SamplingParams { temperature: 0.5, seed: 12, ..SamplingParams::default() },
            16.27,
        ),
        (
            SamplingParams { temperature: 2.0, seed: 13, ..SamplingParams::default() },
            16.27,
        ),
        (SamplingParams { top_k: Some(2), seed: 14, ..SamplingParams::default() }, 10.83),
        (
            SamplingParams { top_p: Some(0.8), seed: 15, ..SamplingParams::default() },
            13.82,
        ),
    ];
    const DRAWS: u32 = 200_000;
    for (params, bound) in cases {
        let expected = distribution(&params, &LOGITS);
        let mut sampler = Sampler::new(&params).unwrap();
        let mut counts = [0f64; 4];
        for _ in 0..DRAWS {
            counts[sampler.sample(&LOGITS, &[], &[]).unwrap() as usize] += 1.0;
        }
        let chi_squared: f64 = (0..4)
            .filter(|&id| expected[id] > 0.0)
            .map(|id| {
                let expected = f64::from(expected[id]) * f64::from(DRAWS);
                (counts[id] - expected).powi(2) / expected
            })
            .sum();
        assert!(chi_squared < bound, "{chi_squared} for {params:?}");
    }
}

#[test]
fn log_probabilities_are_of_the_raw_logits_best_first() {
    let found = logprobs(&[2.0, 1.5, 1.0, 2.0], 2, 4);
    let sum: f32 = found.top.iter().map(|(_, logprob)| logprob.exp()).sum();
    assert!((sum - 1.0).abs() < 1e-6);
    assert_eq!(found.top.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [0, 3, 1, 2]);
    assert_eq!(found.logprob, found.top[3].1);
    assert_eq!(logprobs(&[0.0, 0.0], 0, 10).top.len(), 2);
    assert!(logprobs(&[0.0, 0.0], 0, 0).top.is_empty());
}

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

/// Where a penalty takes a score out of the range of f32, no token is the most likely one.
#[test]
fn a_penalty_that_leaves_no_usable_scores_is_an_error_that_names_it() {
    for temperature in [0.0, 1.0] {
        for (repetition_penalty, logits, problem) in [
            (1e-38, [4.0, 5.0], "infinite"),
            (f32::from_bits(1), [1e-3, -1.0], "infinite"),
            (1e38, [-10.0, -11.0], "none of them is finite"),
        ] {
            let params =
                SamplingParams { repetition_penalty, temperature, ..SamplingParams::default() };
            let mut sampler = Sampler::new(&params).unwrap();
            let error = sampler.sample(&logits, &[0], &[1]).unwrap_err();
            assert!(
                matches!(error, Error::Request(RequestError::Scores { step: 1, .. })),
                "{error}"
            );
            for part in ["step 1", "repetition penalty", problem] {
                assert!(error.to_string().contains(part), "{error}");
            }
        }
    }
    // A score below all that f32 holds has the probability 0: that is what -inf stands for.
    let params = SamplingParams { repetition_penalty: 1e38, ..SamplingParams::default() };
    let sampler = Sampler::new(&params).unwrap();
    assert_eq!(sampler.distribution(&[-10.0, -11.0], &[0], &[]).unwrap(), [0.0, 1.0]);
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
            let kept = kept(&params, &logits);
            let of = |which: bool| (0..logits.len()).filter(move |&id| kept[id] == which);
            let least = of(true).map(|id| logits[id]).fold(f32::INFINITY, f32::min);
            let kept = self::kept(&params, &logits);
            let greatest = (0..logits.len()).filter(|&id| !kept[id]).map(|id| logits[id])
                .fold(f32::NEG_INFINITY, f32::max);
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
