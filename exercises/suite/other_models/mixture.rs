use super::mixture::mixture;
use crate::support::{Case, Random};

/// What each expert computes for the token.
type Outputs = Vec<Vec<f32>>;

#[track_caller]
fn check(rule: &str, scores: &[f32], per_token: usize, renormalized: bool, outputs: &Outputs) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let mut taken = order[..per_token].to_vec();
    taken.sort_unstable();
    let share = |&i: &usize| (f64::from(scores[i]) - f64::from(scores[order[0]])).exp();
    let sum: f64 = if renormalized {
        taken.iter().map(share).sum()
    } else {
        order.iter().map(share).sum()
    };
    let mut expected = vec![0.0_f64; outputs[0].len()];
    for number in &taken {
        for (sum_of, x) in expected.iter_mut().zip(&outputs[*number]) {
            *sum_of += share(number) / sum * f64::from(*x);
        }
    }
    let expected: Vec<f32> = expected.into_iter().map(|x| x as f32).collect();

    let case = || {
        Case::rule(rule)
            .given("scores", scores)
            .given("per_token", per_token)
            .given("renormalized", renormalized)
            .given("what the experts compute", outputs)
    };
    let first = case();
    let mut computed = Vec::new();
    let found = mixture(scores, per_token, renormalized, &mut |number| {
        computed.push(number);
        outputs[number].clone()
    });
    first.close(&expected, &found, 1e-4);
    let words = format!("experts {taken:?} are computed, each once, in this order");
    case().holds(computed == taken, &words, &computed);
}

fn ones(experts: usize) -> Outputs {
    (0..experts)
        .map(|i| (0..experts).map(|j| f32::from(u8::from(i == j))).collect())
        .collect()
}

#[test]
fn the_example_of_the_task() {
    let outputs = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]];
    for renormalized in [false, true] {
        check(
            "the example above the function: the greatest scores, with weights from the softmax over all experts, divided by their sum only if renormalized",
            &[0.0, 2.0, 1.0],
            2,
            renormalized,
            &outputs,
        );
    }
}

#[test]
fn weights_that_sum_to_one() {
    let rule = "renormalized weights sum to 1";
    check(rule, &[1.0, 3.0, 2.0, 0.5], 2, true, &ones(4));
    check(rule, &[1.0, 3.0, 2.0, 0.5], 1, true, &ones(4));
    check(rule, &[1.0, 3.0, 2.0, 0.5], 4, true, &ones(4));
    check(rule, &[0.0; 256], 1, true, &vec![vec![1.0]; 256]);
}

#[test]
fn weights_over_all_experts() {
    let rule = "without renormalisation, the softmax is over all experts";
    check(rule, &[1.0, 3.0, 2.0, 0.5], 2, false, &ones(4));
    check(rule, &[1.0, 3.0, 2.0, 0.5], 1, false, &ones(4));
    check(rule, &[0.0; 8], 2, false, &ones(8));
}

#[test]
fn of_equal_scores_the_first() {
    let rule = "of equal scores, the ones with the smaller numbers";
    check(rule, &[1.0, 2.0, 2.0, 2.0], 2, true, &ones(4));
    check(rule, &[2.0, 0.0, 2.0, 2.0], 2, true, &ones(4));
    check(rule, &[0.5; 6], 3, true, &ones(6));
    let many: Vec<f32> = (0..64).map(|i| f32::from((i * 7 % 5) as u8)).collect();
    check(rule, &many, 20, true, &ones(64));
    let outputs: Outputs = (0..256).map(|i| vec![f32::from(i as u8) / 256.0]).collect();
    check(rule, &many.repeat(4), 60, true, &outputs);
}

#[test]
fn scores_may_be_great() {
    let rule = "scores may be large: a softmax does not change when all of them are shifted";
    check(rule, &[300.0, 301.0, 299.0], 2, true, &ones(3));
    check(rule, &[-300.0, -301.0, -299.0], 2, false, &ones(3));
    check(rule, &[-300.0, 50.0, 51.0], 2, false, &ones(3));
    let rule = "the greatest scores are taken, even if their weights are too small for an f32";
    check(rule, &[-300.0, -200.0, 0.0], 2, false, &ones(3));
    let rule = "scores may be negative";
    check(rule, &[-3.0, -1.0, -2.0], 2, true, &ones(3));
}

#[test]
fn an_expert_that_is_not_taken_does_not_count() {
    let rule = "what an expert would have computed does not matter if it is not taken";
    let outputs = vec![vec![f32::INFINITY], vec![2.0], vec![f32::NAN], vec![4.0]];
    check(rule, &[-1.0, 1.0, -2.0, 1.5], 2, true, &outputs);
}

#[test]
fn any_router() {
    let mut random = Random::new(44);
    for _ in 0..500 {
        let experts = 1 + random.below(9);
        let scores = random.scores(experts);
        let outputs: Outputs = (0..experts).map(|_| random.scores(3)).collect();
        let per_token = 1 + random.below(experts);
        let renormalized = random.below(2) == 0;
        check(
            "a weighted sum of the experts taken",
            &scores,
            per_token,
            renormalized,
            &outputs,
        );
    }
}
