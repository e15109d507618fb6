use super::histogram::Histogram;
use crate::support::{Case, Random};

fn histogram(bounds: &[u64], counts: &[u64]) -> Histogram {
    Histogram { bounds: bounds.to_vec(), counts: counts.to_vec() }
}

fn observed(bounds: &[u64], values: &[u64]) -> Histogram {
    // For a panic: each comparison has a separate case.
    let _case = Case::rule("values are observed one after the other")
        .given("bounds", bounds)
        .given("values", values);
    let mut histogram = Histogram::new(bounds);
    values.iter().for_each(|&value| histogram.observe(value));
    histogram
}

#[track_caller]
fn check_counts(rule: &str, bounds: &[u64], values: &[u64], expected: &[u64]) {
    let case = Case::rule(rule).given("bounds", bounds).given("values", values);
    case.equal(histogram(bounds, expected), observed(bounds, values));
}

#[track_caller]
fn check(rule: &str, histogram: &Histogram, per_mille: u64, expected: Option<(u64, Option<u64>)>) {
    let case = Case::rule(rule).given("histogram", histogram).given("per_mille", per_mille);
    case.equal(expected, histogram.percentile(per_mille));
}

#[test]
fn the_example_of_the_page() {
    let times = histogram(&[100, 250], &[150, 199, 200]);
    let rule = "the first bound whose count reaches the rank";
    check(rule, &times, 500, Some((0, Some(100))));
    check(rule, &times, 990, Some((100, Some(250))));
    check("the 200th value is above all bounds", &times, 1000, Some((250, None)));
}

#[test]
fn values_are_counted_up_to_each_bound() {
    let rule = "a count has all values up to its bound, and the last one has all";
    check_counts(rule, &[100, 250], &[], &[0, 0, 0]);
    check_counts(rule, &[100, 250], &[50], &[1, 1, 1]);
    check_counts(rule, &[100, 250], &[50, 200, 300, 70], &[2, 3, 4]);
    check_counts("a value at a bound is within it", &[100, 250], &[100, 250, 251], &[1, 2, 3]);
    check_counts("a value of 0 is a value", &[100], &[0, 0], &[2, 2]);
    check_counts("without bounds there is the number of all", &[], &[5, 7], &[2]);
}

#[test]
fn histograms_are_added() {
    let case = Case::rule("all counts are added, and true is returned")
        .given("one", histogram(&[100, 250], &[1, 2, 3]))
        .given("other", histogram(&[100, 250], &[10, 10, 30]));
    let mut one = histogram(&[100, 250], &[1, 2, 3]);
    let added = one.add(&histogram(&[100, 250], &[10, 10, 30]));
    case.equal((true, histogram(&[100, 250], &[11, 12, 33])), (added, one));
    for other in [&[100, 300][..], &[100], &[100, 250, 500], &[]] {
        let other = histogram(other, &vec![4; other.len() + 1]);
        let case = Case::rule("with other bounds nothing changes, and false is returned")
            .given("one", histogram(&[100, 250], &[1, 2, 3]))
            .given("other", &other);
        let mut one = histogram(&[100, 250], &[1, 2, 3]);
        let added = one.add(&other);
        case.equal((false, histogram(&[100, 250], &[1, 2, 3])), (added, one));
    }
}

#[test]
fn an_empty_histogram_has_bounds_too() {
    let case = Case::rule("with other bounds nothing changes, even if one of both is empty")
        .given("one", Histogram::new(&[100, 250]))
        .given("other", histogram(&[100], &[3, 4]));
    let mut one = Histogram::new(&[100, 250]);
    let added = one.add(&histogram(&[100], &[3, 4]));
    case.equal((false, Histogram::new(&[100, 250])), (added, one));
}

#[test]
fn percentiles_of_a_sum() {
    let (mut one, other) = (observed(&[100, 250], &[10; 10]), observed(&[100, 250], &[200; 90]));
    let case = Case::rule("the counts of one are added to the other's")
        .given("one", &one)
        .given("other", &other);
    one.add(&other);
    drop(case);
    let rule = "the percentile of both servers together: 10 fast values and 90 slow ones";
    check(rule, &one, 100, Some((0, Some(100))));
    check(rule, &one, 101, Some((100, Some(250))));
    check(rule, &one, 500, Some((100, Some(250))));
}

#[test]
fn the_nearest_rank() {
    let ten = observed(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let rule = "at least per_mille thousandths of all values are not greater";
    for (per_mille, expected) in [
        (1, Some((0, Some(1)))),
        (100, Some((0, Some(1)))),
        (101, Some((1, Some(2)))),
        (500, Some((4, Some(5)))),
        (501, Some((5, Some(6)))),
        (900, Some((8, Some(9)))),
        (901, Some((9, None))),
        (1000, Some((9, None))),
    ] {
        check(rule, &ten, per_mille, expected);
    }
}

#[test]
fn empty_buckets_are_passed_over() {
    let rule = "a bucket without values is not the answer, but its bound may be the lower one";
    let gap = histogram(&[100, 250, 500], &[3, 3, 4, 4]);
    check(rule, &gap, 750, Some((0, Some(100))));
    check(rule, &gap, 751, Some((250, Some(500))));
    check(rule, &gap, 1000, Some((250, Some(500))));
    let late = histogram(&[100, 250], &[0, 0, 2]);
    check("all values are above all bounds", &late, 1, Some((250, None)));
    check("without bounds nothing is known", &histogram(&[], &[3]), 500, Some((0, None)));
}

#[test]
fn no_value_no_percentile() {
    for per_mille in [1, 500, 1000] {
        check("without a value", &observed(&[100, 250], &[]), per_mille, None);
        check("without a value", &observed(&[], &[]), per_mille, None);
    }
}

#[test]
fn the_value_lies_between_the_bounds() {
    let mut random = Random::new(17);
    for count in 1..60 {
        let bounds = [5, 10, 25, 50, 100];
        let mut values: Vec<u64> = (0..count).map(|_| random.below(130) as u64).collect();
        let histogram = observed(&bounds, &values);
        values.sort_unstable();
        let per_mille = 1 + random.below(1000) as u64;
        let value = values[(count as u64 * per_mille).div_ceil(1000) as usize - 1];
        let below = bounds.iter().copied().rfind(|&bound| bound < value).unwrap_or(0);
        let above = bounds.iter().copied().find(|&bound| bound >= value);
        let rule = format!("the value is {value}: the nearest bounds on both sides");
        check(&rule, &histogram, per_mille, Some((below, above)));
    }
}

#[test]
fn limit_counts_may_be_great() {
    let most = u64::MAX;
    let great = histogram(&[100, 250], &[most - 1, most - 1, most]);
    check("no product overflows", &great, 999, Some((0, Some(100))));
    check("ranks are exact: the last value of all", &great, 1000, Some((250, None)));
    let one_more = histogram(&[100], &[1 << 60, (1 << 60) + 1]);
    check("ranks are exact: 2^60 + 1 is no f64", &one_more, 1000, Some((100, None)));
    let half = histogram(&[100], &[1 << 63, most]);
    check("ranks are exact: 2^63 of 2^64 - 1 is half", &half, 500, Some((0, Some(100))));
    let less = histogram(&[100], &[(1 << 63) - 1, most]);
    check("ranks are exact: one less is not", &less, 500, Some((100, None)));
}
