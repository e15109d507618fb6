//! What holds only with the parts whose exercises compute with tensors.

use std::ops::ControlFlow;

use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{Options, cached};
use slowburn::grammar::Grammar;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::SamplingParams;
use your_engine::Parts;
use your_engine::parts::PARTS;
use your_engine::several;
use your_engine::story::{self, REGEX, Request};
use your_engine::verdict::Expected;

use crate::ANSWERS;
use crate::support::{ENGINE, LIMIT, assert_each_is_seen, said};

#[test]
fn the_ids_to_compare_with_are_those_of_the_crate() {
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let Pretrained { model, tokenizer, .. } = Pretrained::bundled(&device, Precision::F32).unwrap();
    let mut requests = vec![Request::default()];
    requests.extend(several::arrivals().into_iter().map(|arrival| arrival.request));
    let mut expected = vec![Expected::first_light(&ENGINE.1)];
    expected.extend(Expected::several(&ENGINE.1));
    assert_eq!(requests.len(), expected.len());
    for (request, expected) in requests.into_iter().zip(expected) {
        let prompt = tokenizer.encode(&request.prompt).unwrap();
        let options = Options {
            max_tokens: request.max_tokens,
            sampling: SamplingParams {
                temperature: request.temperature,
                top_p: Some(request.top_p),
                seed: request.seed,
                ..SamplingParams::default()
            },
            ..Options::default()
        };
        let written =
            cached(&model, &prompt, &options, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(prompt, expected.prompt);
        assert_eq!(written.ids, expected.ids);
        assert_eq!(tokenizer.decode(&[prompt, written.ids].concat()).unwrap(), expected.text);
    }
}

#[test]
fn a_text_inside_a_regular_expression_is_the_crates() {
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let ember = Pretrained::bundled(&device, Precision::F32).unwrap();
    let request = story::inside(REGEX).unwrap();
    let prompt = ember.tokenizer.encode(&request.prompt).unwrap();
    let options = Options {
        max_tokens: request.max_tokens,
        sampling: SamplingParams {
            temperature: request.temperature,
            top_p: Some(request.top_p),
            seed: request.seed,
            ..SamplingParams::default()
        },
        constraint: Some(ember.constraint(&Grammar::Regex(REGEX.into())).unwrap()),
        ..Options::default()
    };
    let crates =
        cached(&ember.model, &prompt, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    let book = Parts::of_the_book();
    let ours = story::write(&ENGINE, &book, &request, LIMIT, |_| ()).unwrap();
    assert_eq!(ours.ids, crates.ids);
}

#[test]
fn a_wrong_answer_in_any_place_with_tensors_is_seen() {
    let wrong = [
        (
            "split_heads",
            "wrong_reshape_at_once",
            "The first token that differs is number 6: ",
        ),
        (
            "cache_append",
            "wrong_values_are_keys",
            "The first token that differs is number 1: ",
        ),
        ("causal_mask", "wrong_no_offset", "The first token that differs is number 1: "),
        (
            "causal_mask",
            "wrong_square",
            "`causal_mask` made no mask of 2 rows and 5 columns",
        ),
        (
            "attend_to_cache",
            "wrong_unscaled",
            "The first token that differs is number 6: ",
        ),
    ];
    for part in PARTS.iter().filter(|part| part.tensors) {
        assert!(wrong.iter().any(|(name, ..)| *name == part.exercise), "{part:?}");
    }
    assert_each_is_seen(ANSWERS, &wrong, said);
}
