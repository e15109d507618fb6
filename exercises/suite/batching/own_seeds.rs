use slowburn::sampling::{Sampler, SamplingParams};

use super::own_seeds::{Request, batched};
use crate::support::{Case, ToyModel};

fn request(prompt: &[u32], seed: u64) -> Request {
    Request { prompt: prompt.to_vec(), max_tokens: 8, seed, joins_at: 0 }
}

fn run(requests: &[Request]) -> Vec<Vec<u32>> {
    batched(requests, &|text| ToyModel::default().forward(text, 0))
}

/// The text of a request must be the same alone and with others, at `place` among them.
fn check(rule: &str, requests: &[Request], place: usize) {
    let alone = Request { joins_at: 0, ..requests[place].clone() };
    let case = Case::rule(rule)
        .given("the request alone", &alone)
        .given("the requests together", requests)
        .given("its place among them", place);
    let expected = run(&[alone]).remove(0);
    case.equal(expected, run(requests).swap_remove(place));
}

#[test]
fn a_request_alone_gives_the_same_text_again() {
    let requests = [request(&[1, 2], 7)];
    let case = Case::rule("the same seed, the same text").given("requests", &requests);
    let first = run(&requests);
    case.equal(vec![8], first.iter().map(Vec::len).collect());
    case.equal(first, run(&requests));
}

/// What the draws of one sampler make of a request.
fn drawn_in_turn(request: &Request) -> Vec<u32> {
    let params = SamplingParams { seed: request.seed, ..SamplingParams::default() };
    let mut sampler = Sampler::new(&params).expect("the default parameters are valid");
    let mut output = Vec::new();
    while output.len() < request.max_tokens {
        let text = [request.prompt.as_slice(), &output].concat();
        let logits = ToyModel::default().forward(&text, 0);
        output.push(sampler.sample(&logits, &request.prompt, &output).expect("finite logits"));
    }
    output
}

#[test]
fn a_request_alone_gives_the_text_that_it_gave_before() {
    for seed in [0, 7, 8, 1000, u64::MAX] {
        for (max_tokens, joins_at) in [(8, 0), (3, 0), (8, 2), (60, 200)] {
            let request = Request { max_tokens, joins_at, ..request(&[1, 2], seed) };
            let case = Case::rule(
                "alone, a request gets the text that it got before: all tokens are drawn by one \
                 sampler, made from its seed",
            )
            .given("requests", [&request]);
            case.equal(vec![drawn_in_turn(&request)], run(&[request]));
        }
    }
}

#[test]
fn neighbours_change_nothing() {
    let rule = "with others a text is what it is alone: its prompt and its own seed decide, and not its place";
    let requests = [
        request(&[1, 2], 7),
        request(&[3], 8),
        request(&[4, 5, 6], 9),
    ];
    for count in 2..=3 {
        for place in 0..count {
            check(rule, &requests[..count], place);
        }
    }
}

#[test]
fn the_place_among_the_others_changes_nothing() {
    let rule = "a text is the same wherever it stands among the others";
    for place in 0..4 {
        let mut requests = vec![request(&[3], 1), request(&[3], 2), request(&[3], 4)];
        requests.insert(place, request(&[1, 2], 7));
        check(rule, &requests, place);
    }
}

#[test]
fn who_leaves_changes_nothing() {
    let rule = "a text stays what it is when another one ends";
    for max_tokens in [0, 1, 4] {
        let short = Request { max_tokens, ..request(&[3], 8) };
        check(rule, &[short, request(&[1, 2], 7), request(&[4], 9)], 1);
    }
}

#[test]
fn who_joins_later_says_what_it_says_alone() {
    let rule = "a text is the same whenever it joins";
    for joins_at in [1, 3, 20] {
        let late = Request { joins_at, ..request(&[1, 2], 7) };
        check(rule, &[request(&[3], 8), late], 1);
        let late = Request { joins_at, ..request(&[1, 2], 7) };
        check(rule, &[request(&[3], 8), late], 0);
        let late = Request { joins_at, ..request(&[1, 2], 7) };
        let rule = "the texts come in the order of the requests, and not in the order of joining";
        check(rule, &[late.clone(), request(&[3], 8)], 0);
        check(rule, &[late, request(&[3], 8)], 1);
    }
}

#[test]
fn another_seed_gives_another_text() {
    let requests: Vec<Request> = (1..5).map(|seed| request(&[1, 2], seed)).collect();
    let case =
        Case::rule("the same prompt with four seeds gives four texts").given("requests", &requests);
    let texts = run(&requests);
    let differ = (0..4).all(|i| (0..i).all(|j| texts[i] != texts[j]));
    case.holds(differ, "four different texts", &texts);
}

#[test]
fn the_same_seed_gives_the_same_text() {
    let requests = vec![request(&[1, 2], 7); 3];
    let case =
        Case::rule("the same prompt with the same seed gives the same text, in one batch too")
            .given("requests", &requests);
    let texts = run(&requests);
    case.equal(vec![texts[0].clone(); 3], texts);
}

#[test]
fn the_same_seed_with_another_prompt() {
    let rule = "two requests may have the same seed and yet different prompts";
    let requests = [request(&[1, 2], 7), request(&[3], 7), request(&[1], 7)];
    for place in 0..3 {
        check(rule, &requests, place);
    }
}

#[test]
fn a_generator_goes_on() {
    let requests = [Request { max_tokens: 40, ..request(&[1], 7) }];
    let case = Case::rule("each token is drawn with a new random number: a generator is made once")
        .given("requests", &requests)
        .given("logits", "8 equal ones, whatever the text");
    let texts = batched(&requests, &|_| vec![0.0; 8]);
    let repeats = texts[0].iter().all(|&id| id == texts[0][0]);
    case.holds(!repeats, "40 tokens that are not all the same", &texts);
}
