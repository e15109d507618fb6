use super::cached_convolution::cached_convolution;
use crate::support::{Case, Random};

type Rows = Vec<Vec<f32>>;

/// What comes out, and the state after it.
fn expected(weights: &Rows, state: &Rows, rows: &Rows) -> (Rows, Rows) {
    let inputs = [&state[..], rows].concat();
    let output = |t: usize, channel: usize| -> f32 {
        let taps = weights[channel].iter().enumerate();
        taps.map(|(tap, weight)| weight * inputs[t + tap][channel]).sum()
    };
    let outputs = (0..rows.len()).map(|t| (0..weights.len()).map(|c| output(t, c)).collect());
    (outputs.collect(), inputs[rows.len()..].to_vec())
}

/// Of the outputs alone, or of the state too.
#[track_caller]
fn check(rule: &str, weights: &Rows, state: &Rows, rows: &Rows, with_state: bool) {
    let case = Case::rule(rule).given("weights", weights).given("state", state).given("rows", rows);
    let (outputs, after) = expected(weights, state, rows);
    let mut found = state.clone();
    let found_outputs = cached_convolution(weights, &mut found, rows);
    case.close_rows(&outputs, &found_outputs, 1e-3);
    if with_state {
        case.step("the state afterwards");
        case.close_rows(&after, &found, 1e-3);
    }
}

fn column<const N: usize>(numbers: [f32; N]) -> Rows {
    numbers.map(|number| vec![number]).to_vec()
}

fn taps() -> Rows {
    vec![vec![1.0, 10.0, 100.0]]
}

#[test]
fn the_last_weight_is_that_of_the_position() {
    let rule =
        "the weight of the earliest position comes first, and that of the position itself last";
    check(rule, &taps(), &column([0.0, 0.0]), &column([9.0, 1.0, 2.0]), false);
}

#[test]
fn inputs_before_the_rows_count() {
    let rule = "the first outputs need the inputs in the state";
    check(rule, &taps(), &column([2.0, 3.0]), &column([4.0, 0.0, 0.0]), false);
}

#[test]
fn the_state_goes_on() {
    let rule = "afterwards the state has the last inputs, and not the outputs";
    check(rule, &taps(), &column([0.0, 0.0]), &column([1.0, 2.0, 3.0]), true);
}

#[test]
fn a_short_chunk_keeps_a_part_of_the_state() {
    let rule = "a chunk shorter than the state moves it on, and leaves its last inputs there";
    check(rule, &taps(), &column([2.0, 3.0]), &column([4.0]), true);
    let wide = vec![vec![1.0, 2.0, 3.0, 4.0]];
    check(rule, &wide, &column([1.0, 2.0, 3.0]), &column([4.0]), true);
    check(rule, &wide, &column([1.0, 2.0, 3.0]), &column([4.0, 5.0]), true);
}

#[test]
fn channels_stay_apart() {
    let rule = "each channel has its own weights, and no part in another channel";
    let weights = vec![vec![1.0, 10.0], vec![2.0, 0.0], vec![0.0, -1.0]];
    let rows = vec![vec![4.0, 5.0, 6.0], vec![7.0, 8.0, 9.0]];
    check(rule, &weights, &vec![vec![1.0, 2.0, 3.0]], &rows, true);
}

#[test]
fn a_width_of_one() {
    let rule = "with a width of 1 there is nothing to remember";
    check(rule, &vec![vec![2.0]], &vec![], &column([3.0, 4.0]), true);
}

#[test]
fn no_rows() {
    check("without rows the state stays", &taps(), &column([2.0, 3.0]), &vec![], true);
}

#[test]
fn any_chunks() {
    let mut random = Random::new(63);
    for _ in 0..100 {
        let (width, channels) = (1 + random.below(4), 1 + random.below(3));
        let weights: Rows = (0..channels).map(|_| random.scores(width)).collect();
        let rows: Rows = (0..1 + random.below(7)).map(|_| random.scores(channels)).collect();
        let zeros = vec![vec![0.0; channels]; width - 1];
        let (outputs, _) = expected(&weights, &zeros, &rows);
        let chunk = 1 + random.below(rows.len());
        let case = Case::rule("a text gives the same outputs in chunks")
            .given("weights", &weights)
            .given("rows", &rows)
            .given("rows in a chunk", chunk);
        let mut state = zeros;
        let chunks = rows.chunks(chunk);
        let found: Rows =
            chunks.flat_map(|rows| cached_convolution(&weights, &mut state, rows)).collect();
        case.close_rows(&outputs, &found, 1e-3);
    }
}
