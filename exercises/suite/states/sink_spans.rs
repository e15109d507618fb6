use super::sink_spans::{Span, sink_spans};
use crate::support::{Case, Random};

/// What a head takes up, from all scores, and values of one number.
fn expected(scores: &[f32], values: &[f32], sink: Option<f32>) -> f32 {
    let all = scores.iter().copied().chain(sink);
    let greatest = f64::from(all.fold(f32::NEG_INFINITY, f32::max));
    let exp = |score: f32| (f64::from(score) - greatest).exp();
    let sum: f64 = scores.iter().copied().chain(sink).map(exp).sum();
    let mixed: f64 = scores.iter().zip(values).map(|(s, v)| exp(*s) * f64::from(*v)).sum();
    (mixed / sum) as f32
}

fn span(scores: &[f32], values: &[f32]) -> Span {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let mixed = weights.iter().zip(values).map(|(weight, value)| weight * value).sum();
    Span { greatest, sum: weights.iter().sum(), mixed: vec![mixed] }
}

/// The scores and values of each span.
#[track_caller]
fn check(rule: &str, spans: &[(&[f32], &[f32])], sink: Option<f32>) {
    let parts: Vec<Span> = spans.iter().map(|(scores, values)| span(scores, values)).collect();
    let case = Case::rule(rule).given("spans", &parts).given("sink", sink);
    let scores: Vec<f32> = spans.iter().flat_map(|(scores, _)| *scores).copied().collect();
    let values: Vec<f32> = spans.iter().flat_map(|(_, values)| *values).copied().collect();
    case.close(&[expected(&scores, &values, sink)], &sink_spans(&parts, sink), 1e-3);
}

#[test]
fn one_span() {
    let rule =
        "of one span, what is mixed is divided by its sum: without a sink there is no other term";
    check(rule, &[(&[1.0, 2.0], &[10.0, 30.0])], None);
}

#[test]
fn spans_on_one_scale() {
    let rule =
        "spans come on one scale: each is multiplied by exp(its greatest - the greatest of all)";
    check(rule, &[(&[2.0], &[10.0]), (&[0.0, 0.0], &[10.0, 20.0])], None);
    check(rule, &[(&[0.0], &[10.0]), (&[2.0], &[20.0]), (&[1.0], &[40.0])], None);
}

#[test]
fn a_sink_is_a_term_of_the_sum() {
    let rule = "the sink is one more term, on the scale of the others, and has no value";
    check(rule, &[(&[1.0, 2.0], &[10.0, 30.0])], Some(1.0));
    check(rule, &[(&[0.0], &[10.0])], Some(0.0));
}

#[test]
fn a_sink_counts_once() {
    let rule = "the sink counts once, however many spans there are";
    check(rule, &[(&[0.0], &[10.0]), (&[0.0], &[20.0])], Some(0.0));
    check(rule, &[(&[1.0], &[10.0]), (&[1.0], &[20.0]), (&[1.0], &[30.0])], Some(1.0));
}

#[test]
fn a_span_without_keys() {
    let rule = "a span without keys adds nothing: -inf less -inf is no number";
    check(rule, &[(&[1.0], &[10.0]), (&[], &[])], None);
    check(rule, &[(&[], &[]), (&[1.0], &[10.0])], Some(0.0));
    let rule = "without any key, all weight is the sink's: a head takes up zeros";
    check(rule, &[(&[], &[]), (&[], &[])], Some(3.0));
}

#[test]
fn large_and_small_scores() {
    let rule = "scores may be too large or too small for exp alone: only differences go into it";
    check(rule, &[(&[1000.0], &[10.0]), (&[999.0], &[20.0])], None);
    check(rule, &[(&[-1000.0], &[10.0]), (&[-999.0], &[20.0])], None);
    check(rule, &[(&[-1000.0], &[10.0])], Some(-1000.0));
    check(rule, &[(&[900.0], &[10.0])], Some(900.0));
}

#[test]
fn a_sink_may_be_the_greatest() {
    let rule = "a sink far above all scores takes all the weight";
    check(rule, &[(&[-1000.0], &[10.0])], Some(0.0));
    check(rule, &[(&[0.0], &[10.0])], Some(1000.0));
}

#[test]
fn any_spans() {
    let mut random = Random::new(65);
    for _ in 0..200 {
        let mut parts = Vec::new();
        for _ in 0..1 + random.below(4) {
            let count = 1 + random.below(4);
            parts.push((random.scores(count), random.scores(count)));
        }
        let spans: Vec<(&[f32], &[f32])> =
            parts.iter().map(|(scores, values)| (&scores[..], &values[..])).collect();
        let sink = (random.below(2) == 0).then(|| random.float(-5.0, 5.0));
        check("as over all keys at once", &spans, sink);
    }
}
