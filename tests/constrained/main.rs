//! Constrained output: every text is inside its grammar, and has the same bits however it is computed.

#![cfg(feature = "flex")]

mod aside;
#[path = "../common/mod.rs"]
mod common;
mod masks;

use std::ops::ControlFlow;
use std::sync::Arc;

use common::constrained::{assert_same_bits, options};
use common::texts::{alone, assert_same, finish};
use common::{bundled, device, go_on, load};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use regex::Regex;
use slowburn::constrained::{Automaton, Constraint, Reasoning, TokenMask, Vocabulary};
use slowburn::generate::{self, Batch, FinishReason, Options};
use slowburn::grammar::Grammar;
use slowburn::inference::{GenerateRequest, InferenceBuilder, streaming_handler};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Rules, Sampler, SamplingParams, softmax};
use slowburn::{Error, RequestError};

const STORY: &str = r"Once upon a time, there was a (cat|dog|fox) called [A-Z][a-z]+\.";

fn regex(pattern: &str) -> Grammar {
    Grammar::Regex(pattern.to_owned())
}

/// The bytes of the tokens.
fn bytes(vocabulary: &Vocabulary, ids: &[u32]) -> Vec<u8> {
    ids.iter().flat_map(|&id| vocabulary.bytes(id)).copied().collect()
}

/// The tokens that may come next, by trying each of them.
fn one_by_one(constraint: &Constraint, before: &[u8]) -> TokenMask {
    let (automaton, vocabulary) = (constraint.automaton().unwrap(), constraint.vocabulary());
    let state = automaton.read(Automaton::START, before).unwrap();
    let mut mask = TokenMask::none(vocabulary.size());
    for id in 0..vocabulary.size() as u32 {
        let bytes = vocabulary.bytes(id);
        if !bytes.is_empty() && automaton.read(state, bytes).is_some() {
            mask.insert(id);
        }
    }
    if automaton.accepts(state) {
        vocabulary.end_ids().iter().for_each(|&id| mask.insert(id));
    }
    mask
}

/// A vocabulary of these tokens, and behind them one that ends a text.
fn vocabulary(tokens: &[impl AsRef<[u8]>]) -> Arc<Vocabulary> {
    let bytes = |id: u32| tokens.get(id as usize).map(|bytes| bytes.as_ref().to_vec());
    Arc::new(Vocabulary::new(tokens.len() + 1, bytes, vec![tokens.len() as u32]))
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn next(constraint: &Constraint, output: &[u32]) -> Vec<u32> {
    constraint.follow().next(output).unwrap().mask().ids().collect()
}

#[test]
fn a_story_has_the_form_that_was_asked_for() {
    let Pretrained { model, tokenizer, .. } = &bundled(&device());
    let pretrained = bundled(&device());
    let constraint = pretrained.constraint(&regex(STORY)).unwrap();
    let whole = Regex::new(&format!("^(?:{STORY})$")).unwrap();
    for seed in 0..8 {
        for temperature in [0.0, 1.0, 3.0] {
            let prompt = pretrained.prompt_ids("").unwrap();
            let found = alone(model, &prompt, &options(&constraint, 60, temperature, seed));
            let text = tokenizer.decode(&found.ids).unwrap();
            match found.finish_reason {
                FinishReason::Eos => assert!(whole.is_match(&text), "{text:?}"),
                FinishReason::Length => assert!(text.starts_with("Once upon a time, there was a ")),
                reason => panic!("{reason:?}"),
            }
            for (id, logprobs) in found.ids.iter().zip(&found.logprobs) {
                assert_eq!(logprobs.id, *id);
                assert!(logprobs.logprob.is_finite());
                let sum: f32 = logprobs.top.iter().map(|(_, logprob)| logprob.exp()).sum();
                assert!(sum < 1.0 + 1e-5, "{logprobs:?}");
            }
        }
    }
    // The same grammar again is the same constraint, with its masks.
    assert_eq!(pretrained.constraint(&regex(STORY)).unwrap().seen(), constraint.seen());
}

/// A thought of seven tokens, and behind it the form. With and without a constraint, and with a thought that the
/// model has to begin itself.
#[test]
fn a_thought_with_a_budget_is_the_same_in_every_batch() {
    let pretrained = bundled(&device());
    let Pretrained { model, tokenizer, .. } = &pretrained;
    let prompt = pretrained.prompt_ids("Once there was a fox, and").unwrap();
    let id = |text: &str| tokenizer.encode_bare_text(text).unwrap()[0];
    let (open, close) = (id("<"), id(">"));
    let begun = Reasoning::new(vec![vec![]], close).with_budget(Some(7));
    let begins = Reasoning::new(vec![vec![open]], close).with_budget(Some(7));
    let constraint = pretrained.constraint(&regex(STORY)).unwrap();
    let must_think = SamplingParams {
        temperature: 0.9,
        logit_bias: [(open, 100.0)].into(),
        ..SamplingParams::default()
    };
    let plain = options(&constraint, 24, 0.9, 3);
    let plain = Options { logprobs: None, ..plain };
    let requests = [
        (Options { reasoning: Some(begun.clone()), ..plain.clone() }, 0),
        (
            Options {
                reasoning: Some(begun.clone()),
                constraint: None,
                ..plain.clone()
            },
            0,
        ),
        (
            Options {
                reasoning: Some(begins),
                sampling: must_think,
                ..plain.clone()
            },
            1,
        ),
        (Options { reasoning: Some(begun.with_budget(Some(0))), ..plain }, 0),
    ];
    let mut batch = Batch::new(model);
    for (options, _) in &requests {
        batch.join(&prompt, options).unwrap();
    }
    let together = finish(&mut batch).into_values();
    for ((options, begins), together) in requests.iter().zip(together) {
        let naive = generate::naive(model, &prompt, options, &mut go_on).unwrap();
        assert_same(&together, &naive, "in a batch");
        let place = naive.ids.iter().position(|id| *id == close).unwrap();
        assert!([0, 7].contains(&(place - begins)), "{place}");
        let answer = tokenizer.decode(&naive.ids[place + 1..]).unwrap();
        if options.constraint.is_some() {
            assert!(answer.starts_with("Once upon a time, there was a "), "{answer}");
        }
    }
    let foreign = Reasoning::new(vec![vec![]], u32::MAX);
    let options = Options { reasoning: Some(foreign), ..Options::default() };
    let error = generate::cached(model, &prompt, &options, &mut go_on).unwrap_err();
    assert!(error.to_string().contains("in a vocabulary of"), "{error}");
}

/// Where letters are counted, each number of them is a state.
#[test]
fn masks_that_pile_up_are_forgotten_before_the_next_text() {
    let pretrained = bundled(&device());
    let grammar = regex("[a-z]{0,1500}");
    let constraint = pretrained.constraint(&grammar).unwrap();
    let vocabulary = constraint.vocabulary();
    let is_letter = |id: &u32| vocabulary.bytes(*id) == b"a";
    let letter = (0..vocabulary.size() as u32).find(is_letter).unwrap();
    let text = vec![letter; 1200];
    let follower = constraint.follow();
    for length in 0..text.len() {
        follower.next(&text[..length]).unwrap();
    }
    assert_eq!(constraint.seen(), text.len());
    let again = pretrained.constraint(&grammar).unwrap();
    assert_eq!(again.seen(), 0);
    // What has begun keeps its own, and the answers are the same.
    assert_eq!(constraint.seen(), text.len());
    assert_eq!(again.follow().next(&text).unwrap().mask(), follower.next(&text).unwrap().mask());
}

/// Expressions whose matches are short, made of what expressions are made of.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-d]{1,3}",
        Just("[a-f]".to_owned()),
        Just(".".to_owned()),
        Just("é|ü|日本".to_owned()),
        Just(r"\d".to_owned()),
        Just("(?i:the)".to_owned()),
        Just(" once".to_owned()),
        Just("[^a-z]".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|parts| parts.iter().map(|part| format!("(?:{part})")).collect()),
            prop::collection::vec(inner.clone(), 2..3)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (inner, 0..5usize).prop_map(|(part, times)| {
                let times = ["?", "*", "+", "{2,3}", "??"][times];
                format!("(?:{part}){times}")
            }),
        ]
    })
}

#[test]
fn every_text_under_a_random_expression_matches_it_and_its_masks_are_those_of_every_token_tried() {
    let pretrained = bundled(&device());
    let ended = std::cell::Cell::new(0);
    runner(96)
        .run(&(expression(), any::<u64>()), |(pattern, seed)| {
            let constraint = match pretrained.constraint(&regex(&pattern)) {
                Ok(constraint) => constraint,
                Err(Error::Request(RequestError::GrammarEmpty)) => return Ok(()),
                Err(error) => panic!("{pattern}: {error}"),
            };
            let vocabulary = constraint.vocabulary();
            let whole = Regex::new(&format!("^(?:{pattern})$")).unwrap();
            // Any token that is allowed, at random: what no model would write, too.
            let mut sampler = Sampler::new(&SamplingParams { seed, ..SamplingParams::default() })
                .unwrap()
                .with_constraint(&constraint);
            let mut output = Vec::new();
            for step in 0..40 {
                let follower = sampler.constraint().unwrap().clone();
                let allowed = follower.next(&output).unwrap();
                if step < 6 {
                    let expected = one_by_one(&constraint, &bytes(vocabulary, &output));
                    prop_assert_eq!(allowed.mask(), &expected);
                }
                let token = sampler.sample(&vec![0.0; vocabulary.size()], &[], &output).unwrap();
                if vocabulary.end_ids().contains(&token) {
                    let text = String::from_utf8(bytes(vocabulary, &output)).unwrap();
                    prop_assert!(whole.is_match(&text), "{}: {:?}", pattern, text);
                    ended.set(ended.get() + 1);
                    break;
                }
                output.push(token);
            }
            Ok(())
        })
        .unwrap();
    assert!(ended.get() > 40, "{ended:?}");
}

#[test]
fn a_constrained_text_has_the_bits_that_it_has_alone_in_a_batch_speculated_and_preempted() {
    let patterns = [
        STORY,
        "( [a-z]+)+\\.",
        ".*",
        "(yes|no|perhaps)( indeed){3,9}",
    ];
    // Three blocks more than the longest sequence needs.
    assert_same_bits(&patterns.map(regex), 60, 6);
}

#[test]
fn a_text_may_end_where_it_matches_and_must_where_nothing_continues_it() {
    let constraint = Constraint::new(
        Automaton::from_regex("ab*").unwrap(),
        vocabulary(&["a", "b", "ab", "ba", "c"]),
    )
    .unwrap();
    assert_eq!(next(&constraint, &[]), [0, 2]);
    // The token 5 ends the text.
    assert_eq!(next(&constraint, &[0]), [1, 5]);
    assert_eq!(next(&constraint, &[2, 1]), [1, 5]);
    assert_eq!(next(&constraint, &[0, 5]), [1, 5], "a token without text changes nothing");

    let pretrained = bundled(&device());
    let constraint = pretrained.constraint(&Grammar::Choice(vec!["a.b".to_owned()])).unwrap();
    let found = alone(&pretrained.model, &[0], &options(&constraint, 60, 1.0, 0));
    assert_eq!(pretrained.tokenizer.decode(&found.ids).unwrap(), "a.b");
    assert_eq!(found.finish_reason, FinishReason::Eos);
    let ignored = Options { ignore_eos: true, ..options(&constraint, 60, 1.0, 0) };
    assert_eq!(alone(&pretrained.model, &[0], &ignored).ids, found.ids);
}

#[test]
fn a_token_may_end_inside_a_character() {
    // The two bytes of é, the first of them with another one behind, and é in one token.
    let tokens: [&[u8]; 6] = [b"\xc3", b"\xa9", b"\xa8", b"\xc3\xa9", b"e", b"\xa9!"];
    let constraint =
        Constraint::new(Automaton::from_regex("é+!?").unwrap(), vocabulary(&tokens)).unwrap();
    assert_eq!(next(&constraint, &[]), [0, 3]);
    assert_eq!(next(&constraint, &[0]), [1, 5], "neither è nor the end");
    assert_eq!(next(&constraint, &[0, 1]), [0, 3, 6]);
    assert_eq!(next(&constraint, &[0, 5]), [6]);
}

#[test]
fn the_same_text_may_have_other_tokens() {
    let pretrained = bundled(&device());
    let constraint = pretrained.constraint(&regex("the fox")).unwrap();
    let vocabulary = constraint.vocabulary();
    let canonical = pretrained.tokenizer.encode_bare("the fox").unwrap();
    let letters: Vec<u32> = "the fox"
        .bytes()
        .map(|byte| {
            let is_byte = |id: &u32| vocabulary.bytes(*id) == [byte];
            (0..vocabulary.size() as u32).find(is_byte).unwrap()
        })
        .collect();
    assert!(canonical.len() < letters.len());
    for ids in [&canonical, &letters] {
        let follower = constraint.follow();
        for (at, id) in ids.iter().enumerate() {
            assert!(follower.next(&ids[..at]).unwrap().mask().contains(*id));
        }
        assert!(follower.next(ids).unwrap().is_complete());
    }
}

#[test]
fn logprobs_are_those_of_the_tokens_that_are_allowed() {
    let pretrained = bundled(&device());
    let constraint = pretrained.constraint(&regex("(cat|dog)")).unwrap();
    let prompt = pretrained.prompt_ids("Once upon a time, there was a ").unwrap();
    let options = Options { logprobs: Some(2000), ..options(&constraint, 60, 1.0, 4) };
    let mut logits = Vec::new();
    let found = generate::cached(&pretrained.model, &prompt, &options, &mut |chosen| {
        logits.push(chosen.logits.to_vec());
        ControlFlow::Continue(())
    })
    .unwrap();
    let allowed = constraint.follow().next(&[]).unwrap();
    let mut scores = logits[0].clone();
    allowed.mask().apply(&mut scores);
    let probabilities = softmax(&scores);
    let top = &found.logprobs[0].top;
    assert_eq!(top.len(), allowed.mask().len());
    for (id, logprob) in top {
        assert!((logprob.exp() - probabilities[*id as usize]).abs() < 1e-6);
    }
}

#[test]
fn a_bias_a_penalty_and_a_rule_let_nothing_in_again() {
    let pretrained = bundled(&device());
    let constraint = pretrained.constraint(&regex("[ab]{8}")).unwrap();
    let forbidden = pretrained.tokenizer.encode_bare("z").unwrap()[0];
    let sampling = SamplingParams {
        logit_bias: [(forbidden, 100.0)].into(),
        repetition_penalty: 0.1,
        ..SamplingParams::default()
    };
    let options = Options { sampling, ..options(&constraint, 60, 1.0, 0) };
    let mut batch = Batch::new(&pretrained.model);
    let rule = move |scores: &mut [f32], _: &[u32], _: &[u32]| scores[forbidden as usize] = 1000.0;
    batch.join(&[0], &options).unwrap();
    let rules = Rules(vec![Arc::new(rule)]);
    batch.join(&[0], &Options { rules, ..options }).unwrap();
    let whole = Regex::new("^[ab]{8}$").unwrap();
    for found in finish(&mut batch).values() {
        let text = pretrained.tokenizer.decode(&found.ids).unwrap();
        assert!(whole.is_match(&text), "{text}");
    }
}

#[test]
fn what_cannot_be_used_is_refused_before_anything_is_generated() {
    let automaton = |pattern: &str| Automaton::from_regex(pattern);
    assert!(matches!(
        automaton(r"a\bb"),
        Err(Error::Request(RequestError::Grammar { .. })
            | Error::Request(RequestError::GrammarEmpty))
    ));
    assert!(matches!(automaton("[a&&b]"), Err(Error::Request(RequestError::GrammarEmpty))));
    assert!(matches!(automaton("a$b"), Err(Error::Request(RequestError::GrammarEmpty))));
    assert!(matches!(
        automaton(&"a".repeat(1 << 20)),
        Err(Error::Request(RequestError::GrammarTooLarge { .. }))
    ));
    let large = automaton(r"(\w{100}){100}");
    assert!(matches!(
        large,
        Err(Error::Request(RequestError::Grammar { .. })
            | Error::Request(RequestError::GrammarTooLarge { .. }))
    ));
    let wrong = automaton("a(b").unwrap_err().to_string();
    assert!(wrong.contains("character 2: a `(` has no `)`"), "{wrong}");

    let pretrained = bundled(&device());
    for empty in [Grammar::Choice(Vec::new()), regex("")] {
        assert!(matches!(
            pretrained.constraint(&empty),
            Err(Error::Request(RequestError::GrammarEmpty))
        ));
    }
    let digits = Automaton::from_regex("[0-9]").unwrap();
    let refused = Constraint::new(digits, vocabulary(&["a", "1a"]));
    assert!(matches!(refused, Err(Error::Request(RequestError::GrammarUnspellable))));
    // A dead end that only this vocabulary has.
    let constraint =
        Constraint::new(Automaton::from_regex("ab").unwrap(), vocabulary(&["a"])).unwrap();
    assert!(matches!(
        constraint.follow().next(&[0]),
        Err(Error::Request(RequestError::NoTokenFits { step: 1 }))
    ));
    let outside = constraint.follow().next(&[1]);
    assert!(matches!(
        outside,
        Err(Error::Request(RequestError::OutsideGrammar { step: 0, token: 1 }))
    ));
    let other = load("llama-gqa", &device()).model;
    let options = options(&constraint, 60, 1.0, 0);
    let found = generate::cached(&other, &[1], &options, &mut go_on);
    assert!(matches!(found, Err(Error::Request(RequestError::ConstraintVocabulary { .. }))));
}

/// A prompt that ends inside a word: what its last token is decides what the model goes on with, and
/// a constraint starts behind it.
#[test]
fn the_last_token_of_a_prompt_stays_as_it_is() {
    let pretrained = bundled(&device());
    let constraint = pretrained.constraint(&regex("( fox|fox)")).unwrap();
    for (prompt, first) in [("There was a", " fox"), ("There was a ", "fox")] {
        let ids = pretrained.prompt_ids(prompt).unwrap();
        let options = Options { logprobs: Some(1), ..options(&constraint, 60, 0.0, 0) };
        let found = alone(&pretrained.model, &ids, &options);
        let text = pretrained.tokenizer.decode(&found.ids).unwrap();
        assert!(["fox", " fox"].contains(&text.as_str()));
        if prompt.ends_with('a') {
            assert_eq!(text, first);
        }
    }
}

#[test]
fn requests_take_a_grammar() {
    let inference =
        InferenceBuilder::new().with_model(bundled(&device())).build(streaming_handler).unwrap();
    let request: GenerateRequest = serde_json::from_value(serde_json::json!({
        "prompt": "Once", "max_tokens": 40, "grammar": {"choice": [" upon a time", " more"]},
    }))
    .unwrap();
    let texts: Vec<String> = (0..4)
        .map(|seed| {
            let found = inference.infer(request.clone().with_seed(seed)).run().unwrap();
            found.outputs.iter().map(|token| token.token.as_str()).collect()
        })
        .collect();
    assert!(texts.iter().all(|text| text == " upon a time" || text == " more"), "{texts:?}");
    let wrong = request.with_grammar(regex("("));
    assert!(matches!(
        inference.infer(wrong).run(),
        Err(Error::Request(RequestError::Grammar { .. }))
    ));
}
