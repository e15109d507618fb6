//! Handlers of one's own.

use super::*;

/// A type of one's own that lends its model.
struct Named {
    name: &'static str,
    pretrained: Pretrained,
}

impl Borrow<Pretrained> for Named {
    fn borrow(&self) -> &Pretrained {
        &self.pretrained
    }
}

/// Puts the name of the model first.
fn naming_handler(
    In(request): In<GenerateRequest>,
    model: ModelHandle<Named>,
    output: OutStream<String>,
) -> Result<()> {
    let _ = output.emit(model.submit(|named| named.name.to_owned())?);
    model.prepare(&request)?.start(move |token| output.emit(token.token_id.to_string()))
}

#[test]
fn every_family_of_models_can_answer_and_a_type_that_lends_one() {
    watch(|| {
        for name in ["gpt2", "llama-gqa", "llama3-scaled", "qwen2", "qwen3"] {
            let pretrained = load(name, &device());
            let prompt = vec![5, 6, 7];
            let options = Options { max_tokens: 12, ignore_eos: true, ..Options::default() };
            let alone = generate::cached(&pretrained.model, &prompt, &options, &mut go_on);
            let inference = InferenceBuilder::new()
                .with_model(Named { name, pretrained })
                .build(naming_handler)
                .unwrap();
            let request = GenerateRequest::new(prompt).with_max_tokens(12).with_ignore_eos(true);
            let found = inference.infer(request).run().unwrap().outputs;
            let ids = alone.unwrap().ids.into_iter().map(|id| id.to_string());
            assert_eq!(found, Vec::from_iter([name.to_owned()].into_iter().chain(ids)));
        }
    });
}

#[test]
fn several_prompts_can_be_one_job() {
    watch(|| {
        let inference = InferenceBuilder::new().with_model(model()).build(batch_handler).unwrap();
        let requests = vec![
            endless("Once", 1),
            endless("a", 2).with_max_tokens(7),
            endless("upon", 3),
        ];
        let collected = inference.infer(requests.clone()).run().unwrap();
        assert_eq!(collected.completions.len(), 3);
        for (place, request) in requests.iter().enumerate() {
            let outputs = collected.outputs.iter().filter(|(found, _)| *found == place);
            let found: Vec<u32> = outputs.map(|(_, token)| token.token_id).collect();
            assert_eq!(found, alone(request).ids);
            let usage = collected.completions[place].usage;
            assert_eq!(usage.completion_tokens, found.len());
        }
        // One that is refused refuses all.
        let wrong = vec![endless("Once", 1), endless("Once", 1).with_max_tokens(0)];
        assert!(matches!(
            inference.infer(wrong).run(),
            Err(Error::Request(RequestError::Parameter { .. }))
        ));
        assert!(matches!(
            inference.infer(Vec::new()).run(),
            Err(Error::Service(ServiceError::NothingStarted))
        ));
        // Two readers, each of its own pace, would be two jobs; this one may leave as a whole.
        drop(inference.infer(requests).spawn());
        assert_idle(&inference);
    });
}

/// What [`scoring_handler`] emits.
#[derive(Debug, PartialEq)]
enum Scored {
    Prompt(Prefill),
    Token(u32),
}

fn scoring_handler(
    In(request): In<GenerateRequest>,
    model: ModelHandle<Model>,
    output: OutStream<Scored>,
) -> Result<()> {
    let prompt = output.clone();
    let emit_prefill = move |prefill: &Prefill| {
        let _ = prompt.emit(Scored::Prompt(prefill.clone()));
    };
    let prepared = model.prepare(&request)?.on_prefill(emit_prefill);
    prepared.start(move |token| output.emit(Scored::Token(token.token_id)))
}

#[test]
fn the_scores_of_a_prompt_come_before_its_first_token() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_chunk(4) // several chunks of a prompt
            .build(scoring_handler)
            .unwrap();
        // With its only token, a sequence has left the batch.
        for max_tokens in [0, 1, 5] {
            let request = endless("upon a time there was", 1).with_max_tokens(max_tokens);
            let found = inference.infer(request.clone().with_prompt_logprobs(2)).run().unwrap();
            let Completion { usage, prompt_logprobs, .. } = &found.completions[0];
            assert_eq!(prompt_logprobs.len(), usage.prompt_tokens - 1);
            assert!(prompt_logprobs.len() > 4 && usage.completion_tokens == max_tokens);
            if max_tokens == 0 {
                assert_eq!(found.outputs, [], "its completion has them");
                continue;
            }
            let ids = alone(&request).ids;
            let mut expected = vec![Scored::Prompt(Prefill {
                prompt_tokens: usage.prompt_tokens,
                cached_tokens: 0, // a prompt that is scored is read as a whole
                prompt_logprobs: prompt_logprobs.clone(),
            })];
            expected.extend(ids.into_iter().map(Scored::Token));
            assert_eq!(found.outputs, expected);
        }
        // Not scored, so the second time most of it comes from the cache.
        let request = endless("upon a time there was a fox in the wood", 1).with_max_tokens(1);
        for times in 0..2 {
            let found = inference.infer(request.clone()).run().unwrap();
            let Usage { prompt_tokens, cached_tokens, .. } = found.completions[0].usage;
            assert_eq!(cached_tokens > 0, times > 0);
            let prefill = Prefill { prompt_tokens, cached_tokens, prompt_logprobs: Vec::new() };
            assert_eq!(found.outputs[0], Scored::Prompt(prefill));
        }
    });
}

// ANCHOR: forbidding_handler
/// Forbids the tokens of its state, and says how many are in the vocabulary.
fn forbidding_handler(
    model: ModelHandle<Model>,
    State(forbidden): State<Vec<u32>>,
    output: OutStream<String>,
    In(request): In<GenerateRequest>,
) -> Result<()> {
    let vocabulary = model.submit(|pretrained| pretrained.model.config().vocab_size)?;
    let _ = output.emit(vocabulary.to_string());
    let rule: Arc<Rule> = Arc::new(move |scores, _, _| {
        for &id in &forbidden {
            scores[id as usize] = f32::NEG_INFINITY;
        }
    });
    let prepared = model.prepare(&request)?.with_rule(rule);
    let _ = output.emit(prepared.prompt_ids().len().to_string());
    prepared.start(move |token| output.emit(token.token_id.to_string()))
}
// ANCHOR_END: forbidding_handler

#[test]
fn a_handler_has_state_rules_of_its_own_and_the_model() {
    watch(|| {
        let request = endless("Once", 1).with_temperature(0.0).with_max_tokens(20);
        let free = alone(&request).ids;
        let inference = InferenceBuilder::new()
            .with_state(Vec::new())
            .with_model(model())
            .build(forbidding_handler)
            .unwrap();
        let outputs = inference.infer(request.clone()).run().unwrap().outputs;
        let prompt = model().prompt_ids("Once").unwrap().len();
        assert_eq!(outputs[..2], ["320".to_owned(), prompt.to_string()]);
        let strings: Vec<_> = free.iter().map(u32::to_string).collect();
        assert_eq!(outputs[2..], strings);
        // The state of one job.
        let job = inference.infer(request).with_state(vec![free[0]]);
        let outputs = job.run().unwrap().outputs;
        assert!(!outputs[2..].contains(&free[0].to_string()), "{outputs:?}");
    });
}

/// Ends its job itself, in one of the ways in which it may.
fn ending_handler(
    In(how): In<&'static str>,
    model: ModelHandle<Model>,
    cancel: CancelToken,
    State(late): State<Arc<Mutex<Option<Error>>>>,
    output: OutStream<usize>,
) -> Result<()> {
    let prepare = || model.prepare(&endless("Once", 1));
    match how {
        "fails" => return Err(ServiceError::Handler("out of tea".into()).into()),
        "starts nothing" => return Ok(()),
        _ => {}
    }
    let another = Mutex::new(Some(prepare()?));
    prepare()?.start(move |token| {
        let _ = output.emit(token.index);
        match how {
            "cancels" if token.index == 4 => cancel.cancel(),
            "breaks" if token.index == 4 => return ControlFlow::Break(()),
            "is late" => {
                if let Some(another) = another.lock().unwrap().take() {
                    let started = another.start(|_| ControlFlow::Continue(()));
                    *late.lock().unwrap() = started.err();
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })
}

#[test]
fn a_handler_may_end_its_job() {
    watch(|| {
        let late = Arc::new(Mutex::new(None));
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_state(late.clone())
            .build(ending_handler)
            .unwrap();
        let run = |how| inference.infer(how).run();
        let error = run("fails").unwrap_err();
        assert_eq!(error.to_string(), "the handler failed: out of tea");
        assert!(matches!(
            run("starts nothing").unwrap_err(),
            Error::Service(ServiceError::NothingStarted)
        ));
        for (how, reason) in [
            ("cancels", FinishReason::Cancelled),
            ("breaks", FinishReason::Stopped),
        ] {
            let collected = run(how).unwrap();
            assert_eq!(collected.completions[0].finish_reason, reason);
            assert_eq!(collected.outputs.iter().max(), Some(&4), "{how}: within one step");
        }
        assert_eq!(run("is late").unwrap().outputs.len(), 200);
        assert!(matches!(
            *late.lock().unwrap(),
            Some(Error::Service(ServiceError::HandlerReturned))
        ));
    });
}

#[test]
fn warming_up_leaves_nothing_behind() {
    watch(|| {
        let inference = streaming();
        assert!(inference.warm_up().unwrap() > Duration::ZERO);
        assert_idle(&inference);
        inference.shut_down();
        assert!(matches!(
            inference.warm_up().unwrap_err(),
            Error::Service(ServiceError::ShutDown)
        ));
        assert!(matches!(inference.load().unwrap_err(), Error::Service(ServiceError::ShutDown)));
    });
}
