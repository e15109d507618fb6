use super::mask_too_late::mask_too_late;
use crate::support::{Case, Random};

fn check(rule: &str, logits: &[f32], allowed: &[bool], k: usize) {
    let case = Case::rule(rule).given("logits", logits).given("allowed", allowed).given("k", k);
    let mut ids: Vec<usize> = (0..logits.len()).filter(|&id| allowed[id]).collect();
    ids.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]).then(a.cmp(&b)));
    ids.truncate(k);
    let weight = |id: usize| (f64::from(logits[id]) - f64::from(logits[ids[0]])).exp();
    let sum: f64 = ids.iter().map(|&id| weight(id)).sum();
    let probability = |id| match ids.contains(&id) {
        true => (weight(id) / sum) as f32,
        false => 0.0,
    };
    let expected: Vec<f32> = (0..logits.len()).map(probability).collect();
    case.close(&expected, &mask_too_late(logits, allowed, k), 1e-5);
}

#[test]
fn none_of_the_best_is_allowed() {
    let rule = "the best of the allowed tokens, even if others are better";
    check(rule, &[5.0, 4.0, 1.0, 2.0, 0.0], &[false, false, true, true, true], 2);
    check(rule, &[5.0, 4.0, 1.0, 2.0, 0.0], &[false, false, true, true, true], 1);
    check(rule, &[5.0, 4.0, -3.0], &[false, false, true], 1);
}

#[test]
fn some_of_the_best_are_allowed() {
    let rule = "as many of the allowed tokens as top-k keeps";
    check(rule, &[5.0, 4.0, 1.0, 2.0, 0.0], &[false, true, true, true, true], 2);
    check(rule, &[5.0, 4.0, 1.0, 2.0, 0.0], &[true, false, false, true, true], 3);
    let rule = "fewer than `k` are allowed";
    check(rule, &[5.0, 4.0, 1.0, 2.0], &[false, true, false, true], 3);
    check(rule, &[5.0, 4.0, 1.0, 2.0], &[false, true, false, true], 100);
}

#[test]
fn all_are_allowed() {
    let rule = "if all are allowed, it is top-k";
    check(rule, &[1.0, 3.0, 2.0, 0.0], &[true; 4], 2);
    check(rule, &[1.0, 3.0, 2.0, 0.0], &[true; 4], 4);
    let rule = "of equal tokens, the ones with the smaller ids";
    check(rule, &[1.0, 2.0, 2.0, 2.0], &[true, false, true, true], 1);
}

#[test]
fn any_logits() {
    let mut random = Random::new(18);
    for _ in 0..1000 {
        let vocab = 1 + random.below(12);
        let logits = random.scores(vocab);
        let mut allowed: Vec<bool> = (0..vocab).map(|_| random.below(2) == 0).collect();
        allowed[random.below(vocab)] = true;
        let k = 1 + random.below(vocab + 2);
        check("the best of the allowed tokens, by their logits", &logits, &allowed, k);
    }
}

#[test]
fn however_unlikely_the_allowed_tokens_are() {
    let rule = "allowed tokens share the probability, however far below the others they are";
    check(rule, &[0.0, -50.0, -51.0], &[false, true, true], 3);
    check(rule, &[0.0, -200.0, -201.0], &[false, true, true], 2);
    check(rule, &[0.0, -20_000.0, -20_001.0], &[false, true, true], 3);
    check(rule, &[0.0, -2e9, 0.0], &[false, true, false], 3);
    check(rule, &[0.0, f32::MIN, 0.0], &[false, true, false], 3);
    let rule = "logits may be large";
    check(rule, &[300.0, 301.0, 299.0], &[true, false, true], 2);
}

#[test]
fn many_equal_tokens() {
    let logits: Vec<f32> = (0..100).map(|id| (id % 3) as f32).collect();
    let allowed: Vec<bool> = (0..100).map(|id| id % 7 > 0).collect();
    for k in [10, 40, 70] {
        check("of equal tokens, the ones with the smaller ids", &logits, &allowed, k);
    }
}
