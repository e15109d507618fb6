use std::cell::RefCell;

use super::beam_step::{Beam, beam_step};
use crate::support::{Case, Random};

const INF: f32 = f32::INFINITY;
const END: u32 = 2;

fn beam(ids: &[u32], log_probability: f32) -> Beam {
    Beam { ids: ids.to_vec(), log_probability, finished: false }
}

fn finished(ids: &[u32], log_probability: f32) -> Beam {
    Beam { finished: true, ..beam(ids, log_probability) }
}

/// A model whose log-probabilities depend on the last token of the text.
fn after(rows: [[f32; 3]; 2]) -> impl Fn(&[u32]) -> Vec<f32> {
    move |ids| rows[ids[ids.len() - 1] as usize].to_vec()
}

fn check(rule: &str, rows: [[f32; 3]; 2], beams: &[Beam], width: usize, expected: &[Beam]) {
    let case = Case::rule(rule)
        .given("log-probabilities after token 0", rows[0])
        .given("log-probabilities after token 1", rows[1])
        .given("beams", beams)
        .given("end", END)
        .given("width", width);
    let found = beam_step(&after(rows), beams, END, width);
    let texts = |beams: &[Beam]| -> Vec<(Vec<u32>, bool)> {
        beams.iter().map(|beam| (beam.ids.clone(), beam.finished)).collect()
    };
    let right = texts(expected) == texts(&found);
    case.holds(right, &format!("{expected:?}"), &found);
    let numbers =
        |beams: &[Beam]| -> Vec<f32> { beams.iter().map(|beam| beam.log_probability).collect() };
    case.close(&numbers(expected), &numbers(&found), 1e-5);
}

/// The model of the example.
fn example() -> [[f32; 3]; 2] {
    [[0.4, 0.35, 0.25], [0.9, 0.06, 0.04]].map(|row| row.map(f32::ln))
}

#[test]
fn the_best_of_all_continuations() {
    let beams = [beam(&[0], 0.6_f32.ln()), beam(&[1], 0.4_f32.ln())];
    let rule = "the most likely texts stay, by the log-probability of the whole text";
    let best = [beam(&[1, 0], 0.36_f32.ln()), beam(&[0, 0], 0.24_f32.ln())];
    check(rule, example(), &beams, 2, &best);
    check(rule, example(), &beams, 1, &best[..1]);
}

#[test]
fn a_single_beam_is_greedy() {
    let rule = "with a width of 1, it is the most likely token";
    check(
        rule,
        example(),
        &[beam(&[1, 0], -1.0)],
        1,
        &[beam(&[1, 0, 0], -1.0 + 0.4_f32.ln())],
    );
}

#[test]
fn both_may_come_from_one_beam() {
    let rule = "all texts compete: a beam may have two successors, and another none";
    let rows = [[-1.0, -1.5, -3.0], [-1.0, -2.0, -3.0]];
    let beams = [beam(&[0], -1.0), beam(&[1], -8.0)];
    check(rule, rows, &beams, 2, &[beam(&[0, 0], -2.0), beam(&[0, 1], -2.5)]);
}

#[test]
fn the_end_token_costs_and_is_not_kept() {
    let rule = "the end token finishes a text: it is not appended, and its log-probability counts";
    let rows = [[-2.0, -3.0, -0.5], [-1.0, -2.0, -3.0]];
    let expected = [finished(&[1, 0], -1.5), beam(&[1, 0, 0], -3.0)];
    check(rule, rows, &[beam(&[1, 0], -1.0)], 2, &expected);
}

#[test]
fn a_finished_beam_stays_as_it_is() {
    let rule = "a finished beam stays as it is, in the place that its log-probability gives it";
    let rows = [[-1.0, -2.0, -3.0], [-1.0, -2.0, -3.0]];
    let beams = [beam(&[1], -1.0), finished(&[0], -2.5)];
    check(rule, rows, &beams, 2, &[beam(&[1, 0], -2.0), finished(&[0], -2.5)]);
    let beams = [beam(&[1], -1.0), finished(&[0], -1.25)];
    check(rule, rows, &beams, 2, &[finished(&[0], -1.25), beam(&[1, 0], -2.0)]);
}

#[test]
fn a_finished_beam_may_fall_out() {
    let rule = "a finished beam competes like the others: better ones take its place";
    let rows = [[-1.0, -2.0, -3.0], [-1.0, -2.0, -3.0]];
    let beams = [finished(&[0], -9.0), beam(&[1], -1.0)];
    check(rule, rows, &beams, 2, &[beam(&[1, 0], -2.0), beam(&[1, 1], -3.0)]);
}

#[test]
fn when_all_are_finished() {
    let rule = "when all beams are finished, they stay, best first";
    let rows = [[-1.0, -2.0, -3.0]; 2];
    let beams = [
        finished(&[0], -4.0),
        finished(&[1, 1], -2.0),
        finished(&[1], -3.0),
    ];
    let best = [beams[1].clone(), beams[2].clone(), beams[0].clone()];
    check(rule, rows, &beams, 3, &best);
    check(rule, rows, &beams, 2, &best[..2]);
}

#[test]
fn what_cannot_come_is_no_continuation() {
    let rule = "a token with the log-probability -inf cannot come, also where there is room";
    let rows = [[-INF, 0.0, -INF], [-0.5, -INF, -1.5]];
    check(rule, rows, &[beam(&[0], -1.0)], 3, &[beam(&[0, 1], -1.0)]);
    check(rule, rows, &[beam(&[1], -1.0)], 3, &[beam(&[1, 0], -1.5), finished(&[1], -2.5)]);
}

#[test]
fn equally_likely_texts() {
    let rule = "of equals, the earlier beam's comes first, and then the lower token id";
    let rows = [[-1.0, -1.0, -1.0], [-1.0, -1.0, -1.0]];
    let beams = [beam(&[1], -1.0), beam(&[0], -1.0)];
    let all = [
        beam(&[1, 0], -2.0),
        beam(&[1, 1], -2.0),
        finished(&[1], -2.0),
        beam(&[0, 0], -2.0),
        beam(&[0, 1], -2.0),
        finished(&[0], -2.0),
    ];
    for width in 1..=7 {
        check(rule, rows, &beams, width, &all[..width.min(6)]);
    }
}

#[test]
fn the_model_is_asked_about_texts_that_go_on() {
    let beams = [
        beam(&[0, 1], -1.0),
        finished(&[0], -0.5),
        beam(&[1, 1], -2.0),
    ];
    let case = Case::rule("the model is asked once about each beam that is not finished")
        .given("beams", &beams)
        .given("width", 3);
    let asked = RefCell::new(Vec::new());
    let model = |ids: &[u32]| {
        asked.borrow_mut().push(ids.to_vec());
        vec![-1.0, -2.0, -3.0]
    };
    beam_step(&model, &beams, END, 3);
    let mut asked = asked.into_inner();
    asked.sort();
    case.equal(vec![vec![0, 1], vec![1, 1]], asked);
}

#[test]
fn with_room_for_all_nothing_is_lost() {
    let mut random = Random::new(6);
    for steps in 1..5 {
        let rows = [(); 2].map(|()| {
            let weights = [(); 3].map(|()| random.float(0.1, 1.0));
            let sum: f32 = weights.iter().sum();
            weights.map(|weight| (weight / sum).ln())
        });
        let case = Case::rule("with room for all texts, their probabilities sum to 1")
            .given("log-probabilities after token 0", rows[0])
            .given("log-probabilities after token 1", rows[1])
            .given("steps, from the text 0", steps);
        let mut beams = vec![beam(&[0], 0.0)];
        for _ in 0..steps {
            beams = beam_step(&after(rows), &beams, END, 1000);
        }
        let sum: f32 = beams.iter().map(|beam| beam.log_probability.exp()).sum();
        case.holds((sum - 1.0).abs() < 1e-4, "the sum 1", (sum, beams));
    }
}
