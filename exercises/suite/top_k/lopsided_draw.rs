use super::lopsided_draw::lopsided_draw;
use crate::support::Case;

/// How often each token comes in 1000 draws, from points at equal distances. One more or one
/// fewer is rounding.
fn check(rule: &str, logits: &[f32], k: usize, expected: &[i32]) {
    let case = Case::rule(rule)
        .given("logits", logits)
        .given("k", k)
        .given("points", "0.0005, 0.0015, ..., 0.9995: 1000 draws");
    let mut counts = vec![0; logits.len()];
    for i in 0..1000 {
        counts[lopsided_draw(logits, k, (f64::from(i) + 0.5) / 1000.0)] += 1;
    }
    let near = counts.iter().zip(expected).all(|(&a, &b): (&i32, &i32)| a.abs_diff(b) <= 1);
    let allowed = format!("{expected:?}, each at most 1 more or less");
    case.holds(near, &allowed, counts);
}

const SHARE: &str = "each of the k best comes as often as its share of their probabilities";

#[test]
fn the_two_best_share_all_draws() {
    check(SHARE, &[2.0, 1.5, 1.0, 0.5], 2, &[622, 378, 0, 0]);
}

#[test]
fn the_order_of_the_ids_does_not_matter() {
    check(SHARE, &[1.5, 2.0, 0.5, 1.0], 2, &[378, 622, 0, 0]);
    check(SHARE, &[0.5, 1.5, 1.0, 2.0], 2, &[0, 378, 0, 622]);
    check(SHARE, &[1.0, 0.5, 2.0, 1.5], 3, &[186, 0, 507, 307]);
}

#[test]
fn logits_below_zero() {
    check(SHARE, &[-2.0, -3.0, -1.0, -4.0], 2, &[269, 0, 731, 0]);
}

#[test]
fn logits_far_below_zero() {
    check(SHARE, &[-50.0, -50.5, -52.0], 2, &[622, 378, 0]);
    check(SHARE, &[-30000.0, -30000.5, -30002.0], 2, &[622, 378, 0]);
}

#[test]
fn a_larger_vocabulary() {
    check(SHARE, &[0.5, 2.0, -1.0, 1.5, 1.0, -3.0], 4, &[102, 455, 0, 276, 167, 0]);
    check(SHARE, &[0.5, 2.0, -1.0, 1.5, 1.0, -3.0], 5, &[99, 445, 22, 270, 164, 0]);
}

/// `allowed`: the tokens that may be drawn, in whichever order they lie on the line.
fn check_one(rule: &str, logits: &[f32], k: usize, point: f64, allowed: &[usize]) {
    let case = Case::rule(rule).given("logits", logits).given("k", k).given("point", point);
    let found = lopsided_draw(logits, k, point);
    case.holds(allowed.contains(&found), &format!("one of {allowed:?}"), found);
}

#[test]
fn the_ends_of_the_line() {
    let rule = "no point of the line belongs to a token that was removed";
    let last = 1.0 - f64::EPSILON / 2.0;
    for logits in [[1.4, 1.5, 2.0], [1.5, 2.0, 1.4], [2.0, 1.4, 1.5]] {
        let best: Vec<usize> = (0..3).filter(|&id| logits[id] > 1.4).collect();
        check_one(rule, &logits, 2, 0.0, &best);
        check_one(rule, &logits, 2, last, &best);
    }
    let rule = "the line has the length 1: only a point on its stretch draws an unlikely token";
    let logits = [12.0, 0.0, -1.0];
    check_one(rule, &logits, 2, 0.0005, &[0]);
    check_one(rule, &logits, 2, 0.9995, &[0]);
    let rule = "an unlikely token has its stretch, which is at one end of the line";
    let case = Case::rule(rule).given("logits", logits).given("k", 2).given("points", [0.0, last]);
    let found = [0.0, last].map(|point| lopsided_draw(&logits, 2, point));
    case.holds(found.contains(&1), "token 1 for one of both points", found);
}

#[test]
fn without_a_cut_it_is_the_models_distribution() {
    let rule = "if k is the vocabulary, each token comes as often as its probability demands";
    check(rule, &[2.0, 1.5, 1.0, 0.5], 4, &[455, 276, 167, 102]);
}

#[test]
fn one_token_is_greedy() {
    check(
        "if k is 1, the best token always comes",
        &[1.0, 0.5, 2.0, 1.5],
        1,
        &[0, 0, 1000, 0],
    );
}
