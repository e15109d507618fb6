use super::kl_divergence::kl_divergence;
use crate::support::{Case, Random};

const NEVER: f32 = f32::NEG_INFINITY;

#[track_caller]
fn check(rule: &str, p: &[f32], q: &[f32], expected: f64) {
    let case = Case::rule(rule).given("p", p).given("q", q);
    let found = kl_divergence(p, q);
    if !near(expected, found) {
        case.told(
            false,
            &format!("{expected} nats"),
            &format!("{found}{}", likely(p, q, expected, found)),
        );
    }
}

fn near(expected: f64, found: f64) -> bool {
    let off = (found - expected).abs();
    found == expected || off.is_finite() && off <= 1e-6 * expected.abs().max(1e-6)
}

/// What a wrong number looks like.
fn likely(p: &[f32], q: &[f32], expected: f64, found: f64) -> &'static str {
    let log_softmax = |logits: &[f32]| -> Vec<f64> {
        let greatest = logits.iter().copied().fold(NEVER, f32::max);
        let above = |logit: &f32| f64::from(*logit) - f64::from(greatest);
        let log_sum = logits.iter().map(|logit| above(logit).exp()).sum::<f64>().ln();
        logits.iter().map(|logit| above(logit) - log_sum).collect()
    };
    let (p, q) = (log_softmax(p), log_softmax(q));
    let swapped = q.iter().zip(&p).filter(|(q, _)| q.exp() > 0.0).map(|(q, p)| q.exp() * (q - p));
    if near(swapped.sum(), found) {
        "\n  that is the divergence the other way around: weigh with `p`, and subtract the logarithms of `q`"
    } else if near(expected / std::f64::consts::LN_2, found) {
        "\n  that is the same in bits"
    } else if near(expected / p.len() as f64, found) {
        "\n  that is the mean over the tokens, and not their sum"
    } else {
        ""
    }
}

#[test]
fn a_worked_example() {
    let q = [3_f32.ln(), 0.0];
    check("1/2 * ln(2/3) + 1/2 * ln(2)", &[0.0, 0.0], &q, 0.5 * (4.0_f64 / 3.0).ln());
}

#[test]
fn it_has_a_direction() {
    let p = [3_f32.ln(), 0.0];
    let expected = 0.75 * 1.5_f64.ln() + 0.25 * 0.5_f64.ln();
    check("weighted with p: 3/4 * ln(3/2) + 1/4 * ln(1/2)", &p, &[0.0, 0.0], expected);
}

#[test]
fn equal_distributions_do_not_diverge() {
    check("the same logits", &[1.0, -2.0, 0.5], &[1.0, -2.0, 0.5], 0.0);
    let rule = "logits that are all shifted alike are the same distribution";
    check(rule, &[1.0, -2.0, 0.5], &[3.0, 0.0, 2.5], 0.0);
    check("one token has probability 1", &[7.0], &[-3.0], 0.0);
}

#[test]
fn logits_may_be_great() {
    let expected = 0.5 * (4.0_f64 / 3.0).ln();
    let rule = "`exp` of a large logit is infinite: subtract the greatest first";
    let three = 8.0 + 3_f32.ln();
    let (shifted, exact) = (1024.0 + three, f64::from(1024.0 + three) - 1032.0);
    let q = (1.0 + exact.exp()).ln();
    let expected_shifted = q - std::f64::consts::LN_2 - 0.5 * exact;
    check(rule, &[1000.0, 1000.0], &[shifted, 1032.0], expected_shifted);
    check(rule, &[-1000.0, -1000.0], &[3_f32.ln(), 0.0], expected);
    let rule = "a difference of two logits may be beyond f32";
    check(rule, &[0.0, 0.0], &[3e38, -3e38], f64::from(3e38_f32));
}

#[test]
fn impossible_tokens() {
    let half = 0.5 * (4.0_f64 / 3.0).ln();
    let rule = "a token with p = 0 and q = 0 adds nothing";
    check(rule, &[0.0, NEVER, 0.0], &[3_f32.ln(), NEVER, 0.0], half);
    let rule = "a token with p = 0 adds nothing itself, but has its part of q";
    check(rule, &[0.0, NEVER], &[0.0, 0.0], std::f64::consts::LN_2);
    let rule = "even if it is the first token";
    check(rule, &[NEVER, 0.0, 0.0], &[NEVER, 3_f32.ln(), 0.0], half);
    check(rule, &[NEVER, 0.0], &[0.0, 0.0], std::f64::consts::LN_2);
    let rule = "a token with p > 0 that q can never choose: infinitely far";
    check(rule, &[0.0, 0.0], &[0.0, NEVER], f64::INFINITY);
    check(rule, &[0.0, -30.0], &[0.0, NEVER], f64::INFINITY);
}

#[test]
fn small_divergences_do_not_drown() {
    let mut random = Random::new(14);
    let p: Vec<f32> = (0..2048).map(|_| random.float(-8.0, 8.0)).collect();
    // The second logits differ by 2^-10 up or down, in turn.
    let step = 1.0 / 1024.0;
    let q: Vec<f32> =
        p.iter().enumerate().map(|(i, p)| p + if i % 2 == 0 { step } else { -step }).collect();
    let weight = |logit: f32| f64::from(logit).exp();
    let (of_p, of_q): (f64, f64) =
        (p.iter().map(|p| weight(*p)).sum(), q.iter().map(|q| weight(*q)).sum());
    let expected: f64 = p
        .iter()
        .zip(&q)
        .map(|(p, q)| {
            let logs = f64::from(*p) - f64::from(*q) + of_q.ln() - of_p.ln();
            weight(*p) / of_p * logs
        })
        .sum();
    let case = Case::rule("in f64: a divergence below 0.000001 nats is a number, not noise")
        .given("p, q", "2048 logits each, which differ by 0.001");
    let found = kl_divergence(&p, &q);
    let off = (found / expected - 1.0).abs();
    case.holds(off < 1e-3, &format!("{expected:e}"), format!("{found:e}"));
}

#[test]
fn it_is_never_negative() {
    let mut random = Random::new(15);
    for count in [2, 5, 50] {
        let (p, q) = (random.scores(count), random.scores(count));
        let case = Case::rule("never less than 0").given("p", &p).given("q", &q);
        let found = kl_divergence(&p, &q);
        case.holds(found > 0.0, "more than 0, since p and q differ", found);
    }
}

#[test]
fn limit_a_probability_may_be_too_small_for_a_number() {
    let rule = "p = 1/2 of a token with q = e^-2000: its logarithm is -2000, and no infinity";
    check(rule, &[0.0, 0.0], &[0.0, -2000.0], 1000.0 - std::f64::consts::LN_2);
    let rule = "p = e^-2000 adds nothing";
    check(rule, &[0.0, -2000.0], &[0.0, 0.0], std::f64::consts::LN_2);
    let rule = "p = e^-2000 is above 0, though no f64 holds it: infinitely far";
    check(rule, &[0.0, -2000.0], &[0.0, NEVER], f64::INFINITY);
}
