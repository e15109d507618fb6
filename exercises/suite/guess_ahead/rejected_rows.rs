use std::cell::Cell;

use slowburn::sampling::{Sampler, SamplingParams};

use super::rejected_rows::{Draft, Request, speculate};
use crate::support::{Case, ToyModel};

/// One less than the number of logits of the model.
const LAST_TOKEN: u32 = 10;

fn request(max_tokens: usize, params: SamplingParams) -> Request {
    Request { prompt: vec![3, 1, 4, 1, 5], max_tokens, params }
}

fn seeded(seed: u64) -> SamplingParams {
    SamplingParams { seed, ..SamplingParams::default() }
}

fn logits(text: &[u32]) -> Vec<f32> {
    ToyModel::default().forward(text, 0)
}

/// Plain decoding, one token at a time.
fn plain(request: &Request) -> Vec<u32> {
    let mut sampler = Sampler::new(&request.params).expect("valid parameters");
    let mut output = Vec::new();
    while output.len() < request.max_tokens {
        let logits = logits(&[request.prompt.as_slice(), &output].concat());
        let token = sampler.sample(&logits, &request.prompt, &output);
        output.push(token.expect("finite logits"));
    }
    output
}

/// A draft that knows the text of plain decoding, and is right where `is_right` of the place in the
/// output says so. It guesses `count` tokens.
fn draft(
    request: &Request,
    count: usize,
    is_right: fn(usize) -> bool,
) -> impl Fn(&[u32]) -> Vec<u32> {
    let (start, plain) = (request.prompt.len(), plain(request));
    move |text| {
        let place = text.len() - start;
        let guess = |place: usize| match plain.get(place) {
            Some(&token) if is_right(place) => token,
            Some(&token) => (token + 1) % (LAST_TOKEN + 1),
            // It does not know when the text ends.
            None => 0,
        };
        (place..place + count).map(guess).collect()
    }
}

/// The tokens of speculative decoding, and how many passes it took.
fn run(request: &Request, draft: &Draft<'_>) -> (Vec<u32>, usize) {
    let passes = Cell::new(0);
    let forward = |text: &[u32], guesses: &[u32]| {
        passes.set(passes.get() + 1);
        let mut text = text.to_vec();
        let mut rows = vec![logits(&text)];
        for &guess in guesses {
            text.push(guess);
            rows.push(logits(&text));
        }
        rows
    };
    let tokens = speculate(request, draft, &forward);
    (tokens, passes.get())
}

fn case(rule: &str, request: &Request, draft: &str) -> Case {
    Case::rule(rule).given("request", request).given("draft", draft)
}

/// The text must equal plain decoding's, with drafts of 0 to 5 guesses.
fn check(rule: &str, request: &Request, (name, is_right): Named) {
    for count in 0..6 {
        let case = case(rule, request, &format!("{name}, {count} at a time"));
        let expected = plain(request);
        case.equal(expected, run(request, &draft(request, count, is_right)).0);
    }
}

/// What a draft is called, and at which places of the output it is right.
type Named = (&'static str, fn(usize) -> bool);

const DRAFTS: [Named; 4] = [
    ("all right", |_| true),
    ("all wrong", |_| false),
    ("every third wrong", |place| !place.is_multiple_of(3)),
    ("every fourth right", |place| place.is_multiple_of(4)),
];

#[test]
fn a_greedy_text() {
    for draft in DRAFTS {
        let params = SamplingParams { temperature: 0.0, ..seeded(0) };
        check("a greedy text equals plain decoding's", &request(20, params), draft);
    }
}

#[test]
fn a_seeded_text() {
    for seed in [0, 1, 2, 1000, u64::MAX] {
        for draft in DRAFTS {
            check("a seeded text equals plain decoding's", &request(20, seeded(seed)), draft);
        }
    }
}

#[test]
fn with_all_parameters() {
    for temperature in [0.01, 0.5, 1.0, 2.0, 10.0] {
        for draft in DRAFTS {
            let params = SamplingParams {
                temperature,
                top_k: Some(6),
                frequency_penalty: 0.3,
                ..seeded(7)
            };
            let rule = "a seeded text equals plain decoding's, with all parameters";
            check(rule, &request(20, params), draft);
        }
    }
}

#[test]
fn penalties_count_the_tokens_of_the_text() {
    for params in [
        SamplingParams { frequency_penalty: 1.5, ..seeded(0) },
        SamplingParams { presence_penalty: 2.0, ..seeded(0) },
        SamplingParams { repetition_penalty: 1.6, ..seeded(0) },
    ] {
        for draft in DRAFTS {
            let rule = "penalties count all tokens of the text, and no rejected guess";
            // Greedy: no random number matters.
            let params = SamplingParams { temperature: 0.0, ..params.clone() };
            check(rule, &request(20, params), draft);
        }
    }
}

#[test]
fn guesses_that_know_nothing() {
    let request = request(20, seeded(9));
    let drafts: [(&str, &Draft<'_>); 3] = [
        ("the last token again, twice", &|text| vec![text[text.len() - 1]; 2]),
        ("the whole text again", &<[u32]>::to_vec),
        ("as many zeros as the last token's id", &|text| {
            vec![0; text[text.len() - 1] as usize]
        }),
    ];
    for (name, draft) in drafts {
        let case = case("a seeded text equals plain decoding's", &request, name);
        case.equal(plain(&request), run(&request, draft).0);
    }
}

#[test]
fn a_text_ends_where_it_should() {
    for max_tokens in 0..9 {
        for draft in DRAFTS {
            let params = SamplingParams { temperature: 0.0, ..seeded(0) };
            let rule = "a greedy text equals plain decoding's, and has `max_tokens`";
            check(rule, &request(max_tokens, params), draft);
        }
    }
}

#[test]
fn an_accepted_guess_saves_a_pass() {
    for params in [seeded(6), SamplingParams { temperature: 0.0, ..seeded(0) }] {
        let request = request(20, params);
        for (count, passes) in [(0, 20), (1, 10), (3, 5), (4, 4), (19, 1), (40, 1)] {
            let rule = "a pass gives the accepted guesses and one token more: number of passes";
            let case = case(rule, &request, &format!("all right, {count} at a time"));
            let found = run(&request, &draft(&request, count, |_| true)).1;
            case.equal(passes, found);
        }
        let rule = "a pass whose first guess is rejected gives one token: number of passes";
        let case = case(rule, &request, "all wrong, 4 at a time");
        case.equal(20, run(&request, &draft(&request, 4, |_| false)).1);
        let rule = "the right guesses before the first wrong one are accepted: number of passes";
        let case = self::case(rule, &request, "wrong at the places 2, 5, 8 and so on, 5 at a time");
        case.equal(7, run(&request, &draft(&request, 5, |place| place % 3 != 2)).1);
    }
}
