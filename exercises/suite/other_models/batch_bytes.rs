use super::batch_bytes::{Sizes, batch_bytes};
use crate::support::{Case, Random};

const SMALL: Sizes = Sizes {
    shared: 100.0,
    layers: 1,
    experts: 8,
    per_token: 2,
    expert: 10.0,
};

#[track_caller]
fn check(rule: &str, sizes: Sizes, batch: usize, expected: f64) {
    let case = Case::rule(rule).given("sizes", sizes).given("batch", batch);
    let found = batch_bytes(sizes, batch);
    let near = (found - expected).abs() <= 1e-6 * expected.abs().max(1.0);
    case.holds(near, &format!("{expected}"), found);
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: an expert is read once, unless all tokens of the batch miss it; what is shared is read once";
    check(rule, SMALL, 1, 120.0);
    check(rule, SMALL, 2, 135.0);
    check(rule, SMALL, 8, 171.990_966_796_875);
}

#[test]
fn one_token() {
    let rule = "one token reads the experts that it takes, in each layer";
    check(rule, Sizes { layers: 12, ..SMALL }, 1, 340.0);
    check(rule, Sizes { per_token: 1, ..SMALL }, 1, 110.0);
    check(rule, Sizes { experts: 128, per_token: 8, ..SMALL }, 1, 180.0);
}

#[test]
fn a_large_batch_reads_all() {
    let rule = "a large batch reads all experts, and no expert twice";
    check(rule, SMALL, 1000, 180.0);
    check(rule, SMALL, 1_000_000, 180.0);
    check(rule, Sizes { layers: 3, ..SMALL }, 1000, 340.0);
}

#[test]
fn an_empty_batch() {
    check("without tokens, no expert is read", SMALL, 0, 100.0);
}

#[test]
fn a_model_without_a_choice() {
    let rule = "if a token takes all experts, the batch does not matter";
    for batch in [1, 2, 50] {
        check(rule, Sizes { per_token: 8, ..SMALL }, batch, 180.0);
        check(rule, Sizes { experts: 1, per_token: 1, ..SMALL }, batch, 110.0);
    }
}

/// The expectation, from all ways in which the tokens of a small batch may choose.
fn by_counting(experts: usize, per_token: usize, batch: usize) -> f64 {
    let choices: Vec<u32> =
        (0..1_u32 << experts).filter(|set| set.count_ones() as usize == per_token).collect();
    let mut sets: Vec<(u32, f64)> = vec![(0, 1.0)];
    for _ in 0..batch {
        let mut next = vec![0.0; 1 << experts];
        for (set, probability) in sets {
            for choice in &choices {
                next[(set | choice) as usize] += probability / choices.len() as f64;
            }
        }
        sets = (0..).zip(next).filter(|(_, probability)| *probability > 0.0).collect();
    }
    sets.iter().map(|(set, probability)| f64::from(set.count_ones()) * probability).sum()
}

#[test]
fn all_choices_counted() {
    for experts in 1..6 {
        for per_token in 1..=experts {
            for batch in 0..4 {
                let sizes = Sizes { shared: 7.0, layers: 2, experts, per_token, expert: 3.0 };
                let expected = 7.0 + 2.0 * 3.0 * by_counting(experts, per_token, batch);
                check("the mean over all ways to choose", sizes, batch, expected);
            }
        }
    }
}

#[test]
fn any_sizes() {
    let mut random = Random::new(46);
    for _ in 0..200 {
        let experts = 1 + random.below(200);
        let sizes = Sizes {
            shared: f64::from(random.float(0.0, 1e6)),
            layers: 1 + random.below(60),
            experts,
            per_token: 1 + random.below(experts),
            expert: f64::from(random.float(1.0, 1e5)),
        };
        let (batch, one) = (1 + random.below(100), 1.0 / experts as f64);
        let mut untouched = 1.0;
        for _ in 0..batch {
            untouched *= 1.0 - one * sizes.per_token as f64;
        }
        let taken = experts as f64 * (1.0 - untouched);
        let expected = sizes.shared + sizes.layers as f64 * sizes.expert * taken;
        check("an expert is read unless all tokens pass by it", sizes, batch, expected);
    }
}
