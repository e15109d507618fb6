use super::delta_chunk::{Chunk, delta_chunk};
use crate::support::{Case, Random};

type Rows = Vec<Vec<f32>>;

fn held(state: &Rows, rows: &[Vec<f32>]) -> Rows {
    let width = state[0].len();
    let of_row = |row: &Vec<f32>| -> Vec<f32> {
        (0..width).map(|j| state.iter().zip(row).map(|(s, x)| s[j] * x).sum()).collect()
    };
    rows.iter().map(of_row).collect()
}

/// The positions one by one, each of which changes the state.
fn steps(state: &mut Rows, chunk: &Chunk) -> [Rows; 2] {
    let (mut added, mut read) = (Rows::new(), Rows::new());
    for i in 0..chunk.keys.len() {
        let found = held(state, &chunk.keys[i..=i]).remove(0);
        let missing: Vec<f32> =
            chunk.values[i].iter().zip(&found).map(|(v, f)| chunk.strengths[i] * (v - f)).collect();
        for (row, k) in state.iter_mut().zip(&chunk.keys[i]) {
            row.iter_mut().zip(&missing).for_each(|(x, missing)| *x += k * missing);
        }
        read.push(held(state, &chunk.queries[i..=i]).remove(0));
        added.push(missing);
    }
    [added, read]
}

#[track_caller]
fn check(rule: &str, state: &Rows, chunk: &Chunk) {
    let case = Case::rule(rule)
        .given("state", state)
        .given("queries", &chunk.queries)
        .given("keys", &chunk.keys)
        .given("values", &chunk.values)
        .given("strengths", &chunk.strengths);
    let mut calls = 0;
    let [added, read] = steps(&mut state.clone(), chunk);
    let [found_added, found_read] = delta_chunk(
        &mut |rows| {
            calls += 1;
            held(state, rows)
        },
        chunk,
    );
    case.step("what is added");
    case.close_rows(&added, &found_added, 1e-2);
    case.step("what is read");
    case.close_rows(&read, &found_read, 1e-2);
    case.step("the calls of `held`");
    case.holds(calls <= 1, "the state is asked once, for the whole chunk", calls);
}

/// Queries and keys of two numbers, values of one, strengths.
fn chunk<const N: usize>(positions: [([f32; 2], [f32; 2], f32, f32); N]) -> Chunk {
    Chunk {
        queries: positions.map(|(query, ..)| query.to_vec()).to_vec(),
        keys: positions.map(|(_, key, ..)| key.to_vec()).to_vec(),
        values: positions.map(|(_, _, value, _)| vec![value]).to_vec(),
        strengths: positions.map(|(.., strength)| strength).to_vec(),
    }
}

fn state(numbers: [f32; 2]) -> Rows {
    numbers.map(|number| vec![number]).to_vec()
}

const X: [f32; 2] = [1.0, 0.0];
const Y: [f32; 2] = [0.0, 1.0];
const XY: [f32; 2] = [0.6, 0.8];

#[test]
fn one_position_is_a_step() {
    let rule = "a query reads what the state held, and what its own position adds";
    check(rule, &state([0.0, 0.0]), &chunk([(XY, X, 30.0, 1.0)]));
    check(rule, &state([30.0, 50.0]), &chunk([(X, XY, 20.0, 1.0)]));
    check(rule, &state([30.0, 50.0]), &chunk([(X, X, 20.0, 0.5)]));
}

#[test]
fn later_positions_are_not_read() {
    let rule = "a query reads the positions up to its own, and none after it";
    check(rule, &state([0.0, 0.0]), &chunk([(XY, X, 30.0, 1.0), (Y, Y, 50.0, 1.0)]));
}

#[test]
fn earlier_positions_are_found() {
    let rule = "a position finds for its key what earlier ones of the chunk added";
    let positions = [(X, X, 30.0, 1.0), (XY, XY, 20.0, 1.0)];
    check(rule, &state([0.0, 0.0]), &chunk(positions));
}

#[test]
fn found_is_what_was_added() {
    let rule = "what is found of an earlier position is what it added, and not its value";
    let positions = [(X, X, 30.0, 1.0), (X, X, 20.0, 1.0), (X, X, 50.0, 1.0)];
    check(rule, &state([0.0, 0.0]), &chunk(positions));
    check(rule, &state([40.0, 0.0]), &chunk([(X, X, 30.0, 1.0), (X, X, 20.0, 1.0)]));
}

#[test]
fn keys_are_found_by_keys() {
    let rule = "a position finds by the product of two keys: its query has no part in it";
    check(rule, &state([0.0, 0.0]), &chunk([(X, X, 30.0, 1.0), (Y, X, 20.0, 1.0)]));
}

#[test]
fn strength_is_of_all_that_is_missing() {
    let rule = "the strength multiplies what is missing after everything found is taken off";
    check(rule, &state([0.0, 0.0]), &chunk([(X, X, 30.0, 1.0), (X, X, 20.0, 0.5)]));
}

#[test]
fn the_example_of_the_task() {
    let positions = [(X, X, 30.0, 1.0), (Y, Y, 50.0, 1.0), (X, XY, 20.0, 1.0)];
    check("the example above the function", &state([0.0, 0.0]), &chunk(positions));
}

#[test]
fn no_positions() {
    check("a chunk may be empty", &state([30.0, 50.0]), &chunk([]));
}

#[test]
fn any_chunk() {
    let mut random = Random::new(62);
    for _ in 0..100 {
        let (seq, keys, values) = (1 + random.below(6), 1 + random.below(4), 1 + random.below(3));
        let unit = |random: &mut Random| {
            let x: Vec<f32> = (0..keys).map(|_| random.float(0.1, 1.0)).collect();
            let length = x.iter().map(|x| x * x).sum::<f32>().sqrt();
            x.iter().map(|x| x / length).collect::<Vec<f32>>()
        };
        let chunk = Chunk {
            queries: (0..seq).map(|_| unit(&mut random)).collect(),
            keys: (0..seq).map(|_| unit(&mut random)).collect(),
            values: (0..seq).map(|_| random.scores(values)).collect(),
            strengths: (0..seq).map(|_| random.float(0.0, 1.0)).collect(),
        };
        let state: Rows = (0..keys).map(|_| random.scores(values)).collect();
        check("a chunk is its steps", &state, &chunk);
    }
}
