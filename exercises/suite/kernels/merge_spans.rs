use super::merge_spans::{Span, mean, merge};
use crate::support::{Case, Random};

const HIDDEN: f32 = f32::NEG_INFINITY;
const TOLERANCE: f32 = 1e-5;

fn span(greatest: f32, sum: f32, weighted: &[f32]) -> Span {
    Span { greatest, sum, weighted: weighted.to_vec() }
}

/// The span of some positions, with one value each.
fn of(scores: &[f32], values: &[f32]) -> Span {
    let greatest = scores.iter().copied().fold(HIDDEN, f32::max);
    let weight = |score: &f32| {
        if *score == HIDDEN {
            0.0
        } else {
            (score - greatest).exp()
        }
    };
    let sum = scores.iter().map(weight).sum();
    let weighted = scores.iter().zip(values).map(|(score, value)| weight(score) * value).sum();
    span(greatest, sum, &[weighted])
}

fn case(rule: &str, one: &Span, other: &Span) -> Case {
    Case::rule(rule).given("one", one).given("other", other)
}

#[track_caller]
fn check(rule: &str, one: Span, other: Span, expected: Span) {
    let case = case(rule, &one, &other);
    let found = merge(&one, &other);
    let numbers = |span: &Span| [&[span.greatest, span.sum], span.weighted.as_slice()].concat();
    case.close(&numbers(&expected), &numbers(&found), TOLERANCE);
}

#[test]
fn a_worked_example() {
    let ln_2 = 2_f32.ln();
    let expected = span(ln_2, 2.0, &[10.0]);
    let rule = "(greatest, sum, weighted): the first span is scaled down by a half";
    check(rule, span(0.0, 2.0, &[4.0]), span(ln_2, 1.0, &[8.0]), expected.clone());
    let rule = "(greatest, sum, weighted): the second span is scaled down by a half";
    check(rule, span(ln_2, 1.0, &[8.0]), span(0.0, 2.0, &[4.0]), expected);
}

#[test]
fn equal_greatest_scores_add_up() {
    let rule = "with the same greatest score, sums are added as they are";
    let expected = span(5.0, 3.5, &[3.0, -1.0, 2.0]);
    check(
        rule,
        span(5.0, 1.5, &[1.0, -1.0, 0.0]),
        span(5.0, 2.0, &[2.0, 0.0, 2.0]),
        expected,
    );
}

#[test]
fn nothing_is_seen() {
    let hidden = || span(HIDDEN, 0.0, &[0.0, 0.0]);
    let seen = || span(-3.0, 2.0, &[1.0, 4.0]);
    let rule = "a span of which nothing is seen changes nothing";
    check(rule, hidden(), seen(), seen());
    check(rule, seen(), hidden(), seen());
    let rule = "nothing is seen of either: -inf less -inf would be NaN";
    check(rule, hidden(), hidden(), hidden());
}

#[test]
fn great_scores_do_not_overflow() {
    for shift in [1000.0, -1000.0] {
        let rule = "only the difference of the greatest scores counts";
        let (one, other) = (span(shift, 2.0, &[4.0]), span(shift + 1.0, 1.0, &[8.0]));
        let factor = (-1.0_f32).exp();
        let expected = span(shift + 1.0, 2.0 * factor + 1.0, &[4.0 * factor + 8.0]);
        check(rule, one.clone(), other.clone(), expected.clone());
        check(rule, other, one, expected);
    }
    let rule = "a score may be very low, and still be seen";
    let expected = span(-1e30, 3.0, &[12.0]);
    check(rule, span(-1e30, 2.0, &[4.0]), span(-1e30, 1.0, &[8.0]), expected);
    let rule = "a span far below the other one has no weight, and makes no NaN";
    let high = span(1000.0, 1.0, &[3.0]);
    check(rule, high.clone(), span(0.0, 1.0, &[1e9]), high);
    let great = span(2000.0, 1.0, &[3.0]);
    check(rule, great.clone(), span(-2000.0, 5.0, &[9.0]), great.clone());
    check(rule, span(-2000.0, 5.0, &[9.0]), great.clone(), great);
}

fn check_mean(rule: &str, spans: &[Span], expected: Option<&[f32]>) {
    let case = Case::rule(rule).given("spans", spans);
    let found = mean(spans);
    case.holds(found.is_some() == expected.is_some(), &format!("{expected:?}"), &found);
    case.close(expected.unwrap_or_default(), &found.unwrap_or_default(), TOLERANCE);
}

#[test]
fn the_mean_of_all_spans() {
    let rule = "weighted divided by sum, after all are merged";
    check_mean(rule, &[span(0.0, 2.0, &[4.0, 6.0])], Some(&[2.0, 3.0]));
    let spans = [span(0.0, 2.0, &[4.0]), span(2_f32.ln(), 1.0, &[8.0])];
    check_mean(rule, &spans, Some(&[5.0]));
    let rule = "the mean of one position is its value";
    check_mean(rule, &[span(0.0, 1.0, &[3.0, -4.0])], Some(&[3.0, -4.0]));
    check_mean(rule, &[span(-9.0, 1.0, &[0.25])], Some(&[0.25]));
    let hidden = || span(HIDDEN, 0.0, &[0.0]);
    check_mean(rule, &[hidden(), span(7.0, 1.0, &[-2.0]), hidden()], Some(&[-2.0]));
    let rule = "not the mean of means: three positions weigh more than one";
    check_mean(rule, &[span(1.0, 3.0, &[3.0]), span(1.0, 1.0, &[5.0])], Some(&[2.0]));
}

#[test]
fn a_mean_of_nothing() {
    let hidden = || span(HIDDEN, 0.0, &[0.0]);
    check_mean("no span, no mean", &[], None);
    check_mean("nothing is seen of any span", &[hidden()], None);
    check_mean("nothing is seen of any span", &[hidden(), hidden()], None);
    let spans = [hidden(), hidden(), span(-7.0, 2.0, &[6.0]), hidden()];
    check_mean("one span is enough", &spans, Some(&[3.0]));
}

#[test]
fn spans_may_be_cut_anywhere() {
    let mut random = Random::new(4);
    for count in [2, 7, 20] {
        let scores: Vec<f32> = (0..count)
            .map(|i| {
                if i % 6 == 4 {
                    HIDDEN
                } else {
                    random.float(-6.0, 6.0)
                }
            })
            .collect();
        let values: Vec<f32> = (0..count).map(|_| random.float(-1.0, 1.0)).collect();
        let all = of(&scores, &values);
        for size in 1..=count {
            let spans: Vec<Span> =
                scores.chunks(size).zip(values.chunks(size)).map(|(s, v)| of(s, v)).collect();
            let rule = "the mean does not depend on where the spans are cut";
            check_mean(rule, &spans, Some(&[all.weighted[0] / all.sum]));
        }
    }
}

#[test]
fn from_the_first_to_the_last() {
    // 2^24 + 1 is rounded to 2^24, and 1 + 1 + 2^24 is not.
    let big = 16_777_216.0;
    let spans = [1.0, 1.0, big].map(|sum| span(0.0, sum, &[sum]));
    let case = Case::rule("spans are merged from the first to the last: 1, + 1, + 2^24")
        .given("sums", [1.0, 1.0, big]);
    let merged = merge(&merge(&spans[0], &spans[1]), &spans[2]);
    case.equal(16_777_218.0, merged.sum);
    let spans = [1.0, big, -big, 1.0].map(|weighted| span(0.0, 1.0, &[weighted]));
    let rule = "merged from the first to the last: 1, + 2^24, - 2^24, + 1 is 1, over 4";
    let case = Case::rule(rule).given("spans", &spans);
    case.equal(Some(vec![0.25]), mean(&spans));
}
