//! Sampling against transformers' answers, against its own rules for all inputs, and against
//! chance: what is drawn must come as often as its probability says.

mod properties;

use std::sync::Arc;

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
    let cases: Vec<Case> = serde_json::from_str(include_str!("../fixtures/sampling.json")).unwrap();
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
