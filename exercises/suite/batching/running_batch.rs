use super::running_batch::{Request, Served, running_batch};
use crate::support::{Case, Random};

/// `requests` are (arrives, tokens), `expected` are (first step, last step).
fn check(rule: &str, places: usize, requests: &[(usize, usize)], expected: &[(usize, usize)]) {
    let case = Case::rule(rule).given("places", places).given("(arrives, tokens)", requests);
    case.equal(expected.to_vec(), run(places, requests));
}

fn run(places: usize, requests: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let request = |&(arrives, tokens): &(usize, usize)| Request { arrives, tokens };
    let requests: Vec<Request> = requests.iter().map(request).collect();
    let steps = |served: Served| (served.first_step, served.last_step);
    running_batch(&requests, places).into_iter().map(steps).collect()
}

#[test]
fn a_text_takes_as_many_steps_as_it_has_tokens() {
    let rule = "each step gives one token, the first one too: (first step, last step)";
    check(rule, 1, &[(0, 1)], &[(0, 0)]);
    check(rule, 1, &[(0, 4)], &[(0, 3)]);
    check(rule, 2, &[(0, 2), (0, 3)], &[(0, 1), (0, 2)]);
}

#[test]
fn nobody_starts_before_it_arrives() {
    let rule = "a text joins at its arrival if a place is free, not only when the batch is empty: (first step, last step)";
    check(rule, 2, &[(0, 5), (2, 2)], &[(0, 4), (2, 3)]);
}

#[test]
fn there_are_no_more_texts_than_places() {
    let rule =
        "a text that finds no free place waits, whatever its length: (first step, last step)";
    check(rule, 1, &[(0, 2), (0, 1)], &[(0, 1), (2, 2)]);
    check(rule, 2, &[(0, 2), (0, 2), (0, 2)], &[(0, 1), (0, 1), (2, 3)]);
}

#[test]
fn a_free_place_is_taken_at_the_next_step() {
    let rule = "a text with all its tokens leaves, and its place is taken at the next step, whatever \
                else is in the batch: (first step, last step)";
    check(rule, 2, &[(0, 5), (0, 2), (0, 2)], &[(0, 4), (0, 1), (2, 3)]);
    let requests = [(0, 4), (0, 2), (1, 1), (1, 2)];
    check(rule, 2, &requests, &[(0, 3), (0, 1), (2, 2), (3, 4)]);
}

#[test]
fn the_length_of_a_text_gives_no_right_of_way() {
    let rule = "the length of a text does not decide when it joins: neither the shorter \
                nor the longer goes before the one that came first: (first step, last step)";
    check(rule, 1, &[(0, 3), (1, 4), (2, 1)], &[(0, 2), (3, 6), (7, 7)]);
    check(rule, 1, &[(0, 3), (1, 1), (2, 4)], &[(0, 2), (3, 3), (4, 7)]);
    check(rule, 1, &[(0, 2), (0, 3), (0, 1)], &[(0, 1), (2, 4), (5, 5)]);
    check(rule, 1, &[(0, 2), (0, 1), (0, 3)], &[(0, 1), (2, 2), (3, 5)]);
}

#[test]
fn first_come_first_served() {
    let rule = "the text that came first goes first, even if the list has another order: (first step, \
                last step)";
    check(rule, 1, &[(5, 1), (0, 1)], &[(5, 5), (0, 0)]);
    check(rule, 1, &[(2, 2), (1, 2), (0, 2)], &[(4, 5), (2, 3), (0, 1)]);
    let rule =
        "texts that arrive at the same step go in the order of the list: (first step, last step)";
    check(rule, 1, &[(0, 3), (0, 2), (0, 1)], &[(0, 2), (3, 4), (5, 5)]);
}

#[test]
fn many_that_arrive_at_the_same_step() {
    // One place, one token each: requests with an odd number arrive at step 0, the others at step 1.
    let requests: Vec<(usize, usize)> = (0..100).map(|i| ((i + 1) % 2, 1)).collect();
    let expected: Vec<(usize, usize)> =
        (0..100).map(|i| i / 2 + 50 * ((i + 1) % 2)).map(|step| (step, step)).collect();
    let rule = "of requests that arrive at the same step, the first in the list goes first: \
                (first step, last step)";
    check(rule, 1, &requests, &expected);
}

#[test]
fn the_batch_may_be_empty_for_a_while() {
    let rule = "a step without texts is no end: (first step, last step)";
    check(rule, 2, &[(0, 1), (4, 2), (9, 1)], &[(0, 0), (4, 5), (9, 9)]);
    check(rule, 1, &[(3, 1)], &[(3, 3)]);
    check(rule, 4, &[(0, 1), (5000, 2)], &[(0, 0), (5000, 5001)]);
}

#[test]
fn many_places_and_many_texts() {
    let rule = "all that have arrived and find a free place join at once: (first step, last step)";
    check(rule, 5, &[(0, 3); 7], &[(0, 2), (0, 2), (0, 2), (0, 2), (0, 2), (3, 5), (3, 5)]);
    check(rule, 8, &[(1, 300); 2], &[(1, 300); 2]);
    check(rule, 1000, &[(0, 2); 1000], &[(0, 1); 1000]);
    check(rule, 1, &[], &[]);
}

#[test]
fn nobody_waits_without_need() {
    let mut random = Random::new(0);
    for count in 1..12 {
        let requests: Vec<(usize, usize)> =
            (0..count).map(|_| (random.below(8), 1 + random.below(5))).collect();
        for places in 1..4 {
            let case = Case::rule("at each step every place is taken, or no text waits")
                .given("places", places)
                .given("(arrives, tokens)", &requests);
            let found = run(places, &requests);
            case.equal(count, found.len());
            for step in 0..80 {
                let inside = found.iter().filter(|(first, last)| (*first..=*last).contains(&step));
                let inside = inside.count();
                let waits = |((arrives, _), (first, _)): (&(usize, usize), &(usize, usize))| {
                    *arrives <= step && step < *first
                };
                let waiting = requests.iter().zip(&found).filter(|&pair| waits(pair)).count();
                let needed = inside <= places && (inside == places || waiting == 0);
                let seen =
                    format!("at step {step} {inside} in the batch, {waiting} waiting: {found:?}");
                case.holds(needed, "all places taken or no text waiting, at each step", seen);
            }
            for (&(_, tokens), &(first, last)) in requests.iter().zip(&found) {
                case.equal(first + tokens - 1, last);
            }
        }
    }
}
