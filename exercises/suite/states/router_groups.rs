use super::router_groups::{Router, router_groups};
use crate::support::{Case, Random};

/// The score whose sigmoid is this weight.
fn scores(weights: &[f32]) -> Vec<f32> {
    weights.iter().map(|weight| (weight / (1.0 - weight)).ln()).collect()
}

/// The numbers of the best, the first of equal ones.
fn best(worths: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..worths.len()).collect();
    order.sort_by(|&a, &b| worths[b].total_cmp(&worths[a]));
    order.truncate(count);
    order
}

fn expected(router: &Router, scores: &[f32]) -> Vec<(usize, f32)> {
    let weights: Vec<f64> = scores.iter().map(|s| 1.0 / (1.0 + (-f64::from(*s)).exp())).collect();
    let worths: Vec<f64> =
        weights.iter().zip(&router.correction).map(|(weight, c)| weight + f64::from(*c)).collect();
    let of_group = |group: &[f64]| -> f64 { best(group, 2).iter().map(|&i| group[i]).sum() };
    let groups: Vec<f64> = worths.chunks(router.group_size).map(of_group).collect();
    let groups = best(&groups, router.groups_per_token);
    let candidates: Vec<usize> =
        (0..scores.len()).filter(|i| groups.contains(&(i / router.group_size))).collect();
    let of_candidates: Vec<f64> = candidates.iter().map(|&i| worths[i]).collect();
    let mut taken: Vec<usize> =
        best(&of_candidates, router.experts_per_token).iter().map(|&i| candidates[i]).collect();
    taken.sort_unstable();
    let sum: f64 = taken.iter().map(|&i| weights[i]).sum();
    taken.iter().map(|&i| (i, (weights[i] / sum) as f32 * router.scale)).collect()
}

/// Of the experts alone, or of their weights too.
#[track_caller]
fn check_parts(rule: &str, router: &Router, scores: &[f32], with_weights: bool) {
    let case = Case::rule(rule).given("router", router).given("scores", scores);
    let (expected, found) = (expected(router, scores), router_groups(router, scores));
    let numbers = |taken: &[(usize, f32)]| taken.iter().map(|(i, _)| *i).collect::<Vec<_>>();
    case.equal(("experts", numbers(&expected)), ("experts", numbers(&found)));
    if with_weights {
        let weights = |taken: &[(usize, f32)]| taken.iter().map(|(_, w)| *w).collect::<Vec<_>>();
        case.step("the weights");
        case.close(&weights(&expected), &weights(&found), 1e-3);
    }
}

#[track_caller]
fn check(rule: &str, router: &Router, scores: &[f32]) {
    check_parts(rule, router, scores, true);
}

#[track_caller]
fn check_choice(rule: &str, router: &Router, scores: &[f32]) {
    check_parts(rule, router, scores, false);
}

/// Groups of two or three, without corrections.
fn router(group_size: usize, [groups, experts]: [usize; 2], count: usize) -> Router {
    Router {
        group_size,
        groups_per_token: groups,
        experts_per_token: experts,
        correction: vec![0.0; count],
        scale: 1.0,
    }
}

#[test]
fn groups_are_chosen_first() {
    let rule = "experts of groups that the token does not take are out, however good they are";
    let weights = scores(&[0.9, 0.8, 0.7, 0.1, 0.85, 0.6]);
    check_choice(rule, &router(2, [1, 2], 6), &weights);
    check_choice(rule, &router(2, [2, 3], 6), &weights);
}

#[test]
fn a_group_is_its_two_best() {
    let rule =
        "a group is worth its two best experts together: neither its best one nor all of them";
    check_choice(rule, &router(2, [1, 1], 4), &scores(&[0.9, 0.1, 0.6, 0.5]));
    check_choice(rule, &router(3, [1, 1], 6), &scores(&[0.5, 0.5, 0.5, 0.7, 0.6, 0.1]));
    check_choice(
        "a group of one expert is worth that one",
        &router(1, [2, 1], 3),
        &scores(&[0.2, 0.9, 0.5]),
    );
}

#[test]
fn corrections_count_for_the_choice() {
    let rule = "the correction is added for the choice, of groups as of experts";
    let mut corrected = router(2, [1, 1], 4);
    corrected.correction = vec![0.0, 0.0, 0.5, 0.0];
    check_choice(rule, &corrected, &scores(&[0.6, 0.5, 0.4, 0.3]));
    corrected.groups_per_token = 2;
    check_choice(rule, &corrected, &scores(&[0.6, 0.5, 0.4, 0.3]));
}

#[test]
fn weights_sum_to_the_scale() {
    let rule =
        "weights are divided by the sum of those that are taken, then multiplied by the scale";
    check(rule, &router(2, [1, 2], 4), &scores(&[0.6, 0.5, 0.4, 0.3]));
    let scaled = Router { scale: 2.5, ..router(2, [2, 3], 4) };
    check(rule, &scaled, &scores(&[0.6, 0.5, 0.4, 0.3]));
}

#[test]
fn weights_have_no_correction() {
    let rule = "the weights are sigmoids alone, without the corrections";
    let mut corrected = router(2, [1, 2], 4);
    corrected.correction = vec![0.0, 0.0, 0.5, 0.1];
    check(rule, &corrected, &scores(&[0.6, 0.5, 0.4, 0.8]));
}

#[test]
fn worths_below_0() {
    let rule = "a worth may be below 0, and still be better than experts of other groups";
    let mut corrected = router(2, [1, 2], 4);
    corrected.correction = vec![0.5, -0.9, -0.2, -0.2];
    check(rule, &corrected, &scores(&[0.9, 0.3, 0.3, 0.3]));
}

#[test]
fn equal_ones() {
    let rule = "of equal groups and experts, the first is better";
    check(rule, &router(2, [1, 1], 6), &[0.0; 6]);
    check(rule, &router(3, [1, 2], 6), &[-1.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
}

#[test]
fn any_router() {
    let mut random = Random::new(66);
    for _ in 0..200 {
        let (size, groups) = (1 + random.below(4), 1 + random.below(4));
        let taken = 1 + random.below(groups);
        let router = Router {
            group_size: size,
            groups_per_token: taken,
            experts_per_token: 1 + random.below(taken * size),
            correction: (0..size * groups).map(|_| random.float(-0.5, 0.5)).collect(),
            scale: random.float(0.5, 3.0),
        };
        check("groups, then experts, then weights", &router, &random.scores(size * groups));
    }
}
