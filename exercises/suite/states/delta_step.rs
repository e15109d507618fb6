use super::delta_step::delta_step;
use crate::support::{Case, Random};

type Rows = Vec<Vec<f32>>;

/// A position: its query, its key and its value, how the state fades, and how strongly the value is written.
struct Position<'a>(&'a [f32], &'a [f32], &'a [f32], f32, f32);

/// What the state is after a step, and what is read.
fn expected(
    state: &Rows,
    &Position(query, key, value, decay, strength): &Position<'_>,
) -> (Rows, Vec<f32>) {
    let faded: Rows = state.iter().map(|row| row.iter().map(|x| x * decay).collect()).collect();
    let held = |state: &Rows, key: &[f32]| -> Vec<f32> {
        let sum = |j: usize| state.iter().zip(key).map(|(row, k)| row[j] * k).sum();
        (0..value.len()).map(sum).collect()
    };
    let found = held(&faded, key);
    let mut after = faded;
    for (row, k) in after.iter_mut().zip(key) {
        for ((x, found), value) in row.iter_mut().zip(&found).zip(value) {
            *x += k * (value - found) * strength;
        }
    }
    let read = held(&after, query);
    (after, read)
}

#[track_caller]
fn check(rule: &str, state: &Rows, position: &Position<'_>) {
    let &Position(query, key, value, decay, strength) = position;
    let case = Case::rule(rule)
        .given("state", state)
        .given("query", query)
        .given("key", key)
        .given("value", value)
        .given("decay, strength", (decay, strength));
    let (after, read) = expected(state, position);
    let mut found = state.clone();
    let found_read = delta_step(&mut found, query, key, value, decay, strength);
    case.close(&read, &found_read, 1e-3);
    case.step("the state after the step");
    case.close_rows(&after, &found, 1e-3);
}

/// A state of two rows of one number.
fn rows(numbers: [f32; 2]) -> Rows {
    numbers.map(|number| vec![number]).to_vec()
}

#[test]
fn what_is_written_is_read() {
    let rule = "reading comes after writing: a value is found under its own key at once";
    let key = [0.6, 0.8];
    check(rule, &rows([0.0, 0.0]), &Position(&key, &key, &[50.0], 1.0, 1.0));
    let empty = vec![vec![0.0; 3]; 2];
    check(rule, &empty, &Position(&key, &key, &[10.0, 20.0, 30.0], 1.0, 1.0));
}

#[test]
fn a_query_reads_by_its_own_numbers() {
    let rule = "the key says where to write, and the query what to read";
    check(rule, &rows([0.0, 0.0]), &Position(&[0.8, 0.6], &[1.0, 0.0], &[50.0], 1.0, 1.0));
    check(rule, &rows([0.0, 0.0]), &Position(&[0.0, 1.0], &[1.0, 0.0], &[50.0], 1.0, 1.0));
}

#[test]
fn a_second_value_replaces_the_first() {
    let rule = "what the state holds for the key is taken off: only what is missing is added";
    let key = [1.0, 0.0];
    check(rule, &rows([30.0, 50.0]), &Position(&key, &key, &[20.0], 1.0, 1.0));
    check(
        rule,
        &rows([30.0, 50.0]),
        &Position(&[1.0, 0.0], &[0.6, 0.8], &[20.0], 1.0, 1.0),
    );
}

#[test]
fn strength_is_of_what_is_missing() {
    let rule = "strength multiplies the difference, and not the value alone";
    let key = [1.0, 0.0];
    check(rule, &rows([30.0, 50.0]), &Position(&key, &key, &[20.0], 1.0, 0.5));
    check(rule, &rows([30.0, 50.0]), &Position(&key, &key, &[20.0], 1.0, 0.0));
}

#[test]
fn the_whole_state_fades() {
    let rule = "the state fades in each step, also under other keys and without a write";
    check(rule, &rows([30.0, 50.0]), &Position(&[0.0, 1.0], &[1.0, 0.0], &[0.0], 0.5, 0.0));
    check(
        rule,
        &rows([10.0, 50.0]),
        &Position(&[0.6, 0.8], &[1.0, 0.0], &[20.0], 0.5, 0.0),
    );
}

#[test]
fn the_state_fades_before_the_lookup() {
    let rule = "what is looked up has faded already, and what is written has not";
    let key = [1.0, 0.0];
    check(rule, &rows([30.0, 50.0]), &Position(&key, &key, &[20.0], 0.5, 1.0));
    check(rule, &rows([30.0, 50.0]), &Position(&key, &key, &[20.0], 0.5, 0.5));
}

#[test]
fn any_steps() {
    let mut random = Random::new(61);
    for _ in 0..100 {
        let (keys, values) = (1 + random.below(4), 1 + random.below(4));
        let unit = |random: &mut Random| {
            let x: Vec<f32> = (0..keys).map(|_| random.float(0.1, 1.0)).collect();
            let length = x.iter().map(|x| x * x).sum::<f32>().sqrt();
            x.iter().map(|x| x / length).collect::<Vec<f32>>()
        };
        let (query, key) = (unit(&mut random), unit(&mut random));
        let state: Rows = (0..keys).map(|_| random.scores(values)).collect();
        let value = random.scores(values);
        let (decay, strength) = (random.float(0.0, 1.0), random.float(0.0, 1.0));
        let rule = "fade, look up, add what is missing, read";
        check(rule, &state, &Position(&query, &key, &value, decay, strength));
    }
}
