use std::cell::RefCell;

use super::beam_step::{Beam, Step, beam_step};
use crate::support::{Case, Random};

const INF: f32 = f32::INFINITY;
const END: u32 = 2;

fn beam(ids: &[u32], log_probability: f32) -> Beam {
    Beam { ids: ids.to_vec(), log_probability }
}

/// A model whose log-probabilities depend on the last token of the text.
fn after(rows: [[f32; 3]; 2]) -> impl Fn(&[u32]) -> Vec<f32> {
    move |ids| rows[ids[ids.len() - 1] as usize].to_vec()
}

fn check(
    rule: &str,
    rows: [[f32; 3]; 2],
    beams: &[Beam],
    width: usize,
    going_on: &[Beam],
    ended: &[Beam],
) {
    let case = Case::rule(rule)
        .given("log-probabilities after token 0", rows[0])
        .given("log-probabilities after token 1", rows[1])
        .given("beams", beams)
        .given("end", END)
        .given("width", width);
    compare(&case, going_on, ended, &beam_step(&after(rows), beams, END, width));
}

fn compare(case: &Case, going_on: &[Beam], ended: &[Beam], found: &Step) {
    let texts = |beams: &[Beam]| beams.iter().map(|beam| beam.ids.clone()).collect::<Vec<_>>();
    let right = texts(going_on) == texts(&found.going_on) && texts(ended) == texts(&found.ended);
    let expected = Step { going_on: going_on.to_vec(), ended: ended.to_vec() };
    case.holds(right, &format!("{expected:?}"), found);
    let numbers =
        |beams: &[Beam]| beams.iter().map(|beam| beam.log_probability).collect::<Vec<f32>>();
    case.close(&numbers(going_on), &numbers(&found.going_on), 1e-5);
    case.close(&numbers(ended), &numbers(&found.ended), 1e-5);
}

#[test]
fn the_best_of_all_continuations() {
    let rows = [[0.4, 0.3, 0.3], [0.5, 0.05, 0.45]].map(|row| row.map(f32::ln));
    let beams = [beam(&[0], 0.6_f32.ln()), beam(&[1], 0.4_f32.ln())];
    let rule = "the most likely texts go on, by the log-probability of the whole text";
    let best = [beam(&[0, 0], 0.24_f32.ln()), beam(&[1, 0], 0.2_f32.ln())];
    check(rule, rows, &beams, 2, &best, &[]);
    check(rule, rows, &beams, 1, &best[..1], &[]);
    let rows = [[-2.0, -2.5, -9.0], [-0.5, -3.0, -9.0]];
    let beams = [beam(&[0], -1.0), beam(&[1], -2.0)];
    check(rule, rows, &beams, 2, &[beam(&[1, 0], -2.5), beam(&[0, 0], -3.0)], &[]);
}

#[test]
fn a_single_beam_is_greedy() {
    let rule = "with a width of 1, it is the most likely token";
    let rows = [[-1.0, -0.5, -2.0], [-1.0, -2.0, -3.0]];
    check(rule, rows, &[beam(&[1, 0], -1.0)], 1, &[beam(&[1, 0, 1], -1.5)], &[]);
    check(rule, rows, &[beam(&[1, 0], -500.0)], 1, &[beam(&[1, 0, 1], -500.5)], &[]);
}

#[test]
fn both_may_come_from_one_beam() {
    let rule = "all texts compete: a beam may have two successors, and another none";
    let rows = [[-1.0, -1.5, -9.0], [-1.0, -2.0, -9.0]];
    let beams = [beam(&[0], -1.0), beam(&[1], -8.0)];
    check(rule, rows, &beams, 2, &[beam(&[0, 0], -2.0), beam(&[0, 1], -2.5)], &[]);
    let beams = [beam(&[1], -8.0), beam(&[0], -1.0)];
    check(rule, rows, &beams, 2, &[beam(&[0, 0], -2.0), beam(&[0, 1], -2.5)], &[]);
}

#[test]
fn there_may_be_more_beams_than_go_on() {
    let rule = "all beams are continued, however many there are and in whatever order";
    let rows = [[-1.0, -1.5, -9.0], [-1.0, -2.0, -9.0]];
    let beams = [beam(&[0, 0], -8.0), beam(&[1], -9.0), beam(&[0], -1.0)];
    check(rule, rows, &beams, 2, &[beam(&[0, 0], -2.0), beam(&[0, 1], -2.5)], &[]);
}

#[test]
fn what_cannot_come_is_no_continuation() {
    let rule = "a token with the log-probability -inf cannot come, even if there is room";
    let rows = [[-INF, 0.0, -INF], [-0.5, -INF, -1.5]];
    check(rule, rows, &[beam(&[0], -1.0)], 3, &[beam(&[0, 1], -1.0)], &[]);
    check(rule, rows, &[beam(&[0], 0.0)], 3, &[beam(&[0, 1], 0.0)], &[]);
    check(rule, rows, &[beam(&[1], -1.0)], 3, &[beam(&[1, 0], -1.5)], &[beam(&[1], -2.5)]);
}

#[test]
fn the_end_token_costs_and_is_not_kept() {
    let rule = "the end token ends a text: it is not appended, and its log-probability counts";
    let rows = [[-2.0, -3.0, -0.5], [-1.0, -2.0, -3.0]];
    let going_on = [beam(&[1, 0, 0], -3.0)];
    check(rule, rows, &[beam(&[1, 0], -1.0)], 1, &going_on, &[beam(&[1, 0], -1.5)]);
}

#[test]
fn who_ends_takes_no_place() {
    let rule = "a text that ends takes no place from the texts that go on";
    let rows = [[-2.0, -3.0, -0.5], [-1.0, -2.0, -3.0]];
    let going_on = [beam(&[1, 0, 0], -3.0), beam(&[1, 0, 1], -4.0)];
    check(rule, rows, &[beam(&[1, 0], -1.0)], 2, &going_on, &[beam(&[1, 0], -1.5)]);
    let rows = [[-3.0, -4.0, -0.5], [-5.0, -6.0, -0.25]];
    let beams = [beam(&[0], -1.0), beam(&[1], -1.0)];
    let going_on = [beam(&[0, 0], -4.0), beam(&[0, 1], -5.0)];
    check(rule, rows, &beams, 2, &going_on, &[beam(&[1], -1.25), beam(&[0], -1.5)]);
}

#[test]
fn an_end_that_is_not_among_the_best() {
    let rule = "a text that ends is set aside only if it is among the `width` best of all";
    let rows = [[-1.0, -2.0, -3.0], [-4.0, -5.0, -1.5]];
    let (first, second) = (beam(&[0, 0], -2.0), beam(&[0, 1], -3.0));
    check(rule, rows, &[beam(&[0], -1.0)], 2, &[first.clone(), second.clone()], &[]);
    check(rule, rows, &[beam(&[0], -1.0)], 3, &[first, second], &[beam(&[0], -4.0)]);
    // Ranked: 1 ended, 0 0, 0 ended, 0 1. Of the two that end, the second has rank 3.
    let rows = [[-1.0, -2.0, -1.25], [-4.0, -5.0, -0.5]];
    let beams = [beam(&[0], -1.0), beam(&[1], -1.0)];
    let going_on = [beam(&[0, 0], -2.0), beam(&[0, 1], -3.0)];
    check(rule, rows, &beams, 2, &going_on, &[beam(&[1], -1.5)]);
}

#[test]
fn equally_likely_texts() {
    let rule = "of equals, the earlier beam's comes first, and then the lower token id";
    let rows = [[-1.0, -1.0, -1.0], [-1.0, -1.0, -1.0]];
    let beams = [beam(&[1], -1.0), beam(&[0], -1.0)];
    let all = [
        beam(&[1, 0], -2.0),
        beam(&[1, 1], -2.0),
        beam(&[0, 0], -2.0),
        beam(&[0, 1], -2.0),
    ];
    // The ends have the ranks 3 and 6.
    let ended = [beam(&[1], -2.0), beam(&[0], -2.0)];
    for width in 1..=7 {
        check(rule, rows, &beams, width, &all[..width.min(4)], &ended[..width / 3]);
    }
}

#[test]
fn equally_likely_texts_of_beams_that_are_not() {
    let rule = "of equals, the earlier beam's comes first, even if the later beam was likelier";
    let rows = [[-1.0, -9.0, -9.0], [-2.0, -9.0, -9.0]];
    let beams = [beam(&[0], -2.0), beam(&[1], -1.0)];
    check(rule, rows, &beams, 2, &[beam(&[0, 0], -3.0), beam(&[1, 0], -3.0)], &[]);
}

#[test]
fn almost_equally_likely_texts() {
    let rule = "a text that is likelier comes first, by however little";
    let rows = [[-1.000_2, -1.000_1, -9.0]; 2];
    let best = [beam(&[0, 1], -2.000_1), beam(&[0, 0], -2.000_2)];
    check(rule, rows, &[beam(&[0], -1.0)], 2, &best, &[]);
}

#[test]
fn however_unlikely_a_token_is() {
    let rule = "if there is room, every token that can come does, however unlikely it is";
    let rows = [[-200.0, -50_000.0, -300.0]; 2];
    let going_on = [beam(&[0, 0], -201.0), beam(&[0, 1], -50_001.0)];
    check(rule, rows, &[beam(&[0], -1.0)], 3, &going_on, &[beam(&[0], -301.0)]);
}

#[test]
fn the_end_may_be_the_first_id() {
    let beams = [beam(&[3], -1.0)];
    let case = Case::rule("the end token is the one that is given, even if its id is 0")
        .given("log-probabilities after every text", [-0.5, -1.0, -2.0])
        .given("beams", &beams)
        .given("end", 0)
        .given("width", 2);
    let found = beam_step(&|_| vec![-0.5, -1.0, -2.0], &beams, 0, 2);
    let going_on = [beam(&[3, 1], -2.0), beam(&[3, 2], -3.0)];
    compare(&case, &going_on, &[beam(&[3], -1.5)], &found);
}

#[test]
fn the_end_may_be_any_id() {
    let beams = [beam(&[3], -1.0), beam(&[3, 1], -1.0)];
    let case = Case::rule("the end token is the one that is given, wherever its id stands")
        .given("log-probabilities after every text", [-1.0, -0.5, -2.0, -3.0])
        .given("beams", &beams)
        .given("end", 1)
        .given("width", 3);
    let found = beam_step(&|_| vec![-1.0, -0.5, -2.0, -3.0], &beams, 1, 3);
    let going_on = [
        beam(&[3, 0], -2.0),
        beam(&[3, 1, 0], -2.0),
        beam(&[3, 2], -3.0),
    ];
    compare(&case, &going_on, &[beam(&[3], -1.5), beam(&[3, 1], -1.5)], &found);
}

#[test]
fn a_width_that_is_greater_than_there_are_texts() {
    let rule = "if there are fewer texts than `width`, all stay";
    let rows = [[-1.0, -2.0, -3.0]; 2];
    let going_on = [beam(&[0, 0], -1.0), beam(&[0, 1], -2.0)];
    for width in [3, 1000, usize::MAX] {
        check(rule, rows, &[beam(&[0], 0.0)], width, &going_on, &[beam(&[0], -3.0)]);
    }
    check(rule, rows, &[], 3, &[], &[]);
}

#[test]
fn the_model_is_asked_once_about_each_beam() {
    let beams = [beam(&[0, 1], -1.0), beam(&[0], -9.5), beam(&[1, 1], -2.0)];
    let case = Case::rule("the model is asked once about each beam")
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
    case.equal(vec![vec![0], vec![0, 1], vec![1, 1]], asked);
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
        let mut all = Vec::new();
        for _ in 0..steps {
            let step = beam_step(&after(rows), &beams, END, 1000);
            beams = step.going_on;
            all.extend(step.ended);
        }
        all.extend(beams);
        let sum: f32 = all.iter().map(|beam| beam.log_probability.exp()).sum();
        case.holds((sum - 1.0).abs() < 1e-4, "the sum 1", (sum, all));
    }
}

#[test]
fn many_equally_likely_texts() {
    let beams = [beam(&[100], -1.0), beam(&[101], -1.0)];
    let case = Case::rule("of equals, the earlier beam's comes first, and then the lower token id")
        .given("log-probabilities after every text", "60: -4 -5 -6 -4 -5 -6 and so on")
        .given("beams", &beams)
        .given("end", 99)
        .given("width", 70);
    let model = |_: &[u32]| (0..60).map(|id| -4.0 - (id % 3) as f32).collect();
    let found = beam_step(&model, &beams, 99, 70);
    let mut going_on = Vec::new();
    for level in 0..3 {
        for first in [100, 101] {
            for id in (level..60).step_by(3) {
                going_on.push(beam(&[first, id], -5.0 - level as f32));
            }
        }
    }
    compare(&case, &going_on[..70], &[], &found);
}
