//! Texts that end, or fail, inside a run of draft tokens.

use super::*;

#[test]
fn a_text_ends_inside_the_draft_tokens_where_it_ends_without_them() {
    let model = bundled(&device()).model;
    let prompt = [0, 5, 6];
    let whole = alone(&model, &prompt, &options(40, 1.0, 1));
    let oracle = || Oracle { ids: whole.ids.clone(), wrong: 0, vocab: 1 };
    for end in [1, 2, 5, 6, 7, 13] {
        let limited = options(end, 1.0, 1);
        let found = speculated(&model, speculator(oracle()), &prompt, &limited);
        assert_same(&found, &alone(&model, &prompt, &limited), &format!("{end} tokens"));
        let stopped = Options { stop_ids: vec![whole.ids[end]], ..options(40, 1.0, 1) };
        let expected = alone(&model, &prompt, &stopped);
        assert!(matches!(expected.finish_reason, FinishReason::StopId(_)));
        let found = speculated(&model, speculator(oracle()), &prompt, &stopped);
        assert_same(&found, &expected, &format!("the stop id at {end}"));
    }
    // The token that ends the text is a draft token too.
    let eos = model.config().eos_token_ids[0];
    let options = Options {
        sampling: SamplingParams { temperature: 0.0, ..SamplingParams::default() },
        ..options(400, 0.0, 0)
    };
    let options = Options { ignore_eos: false, ..options };
    let expected = alone(&model, &prompt, &options);
    assert_eq!(expected.finish_reason, FinishReason::Eos);
    let ids = [&expected.ids[..], &[eos; 4]].concat();
    let by = speculator(Oracle { ids, wrong: 0, vocab: 1 });
    let found = speculated(&model, by, &prompt, &options);
    assert_same(&found, &expected, "the end of the text");
    assert!(found.accepted > expected.ids.len() / 2);
    // The context is full.
    let context = model.config().context_length;
    let prompt = vec![7; context - 4];
    let options = self::options(100, 1.0, 2);
    let expected = alone(&model, &prompt, &options);
    assert_eq!(expected.finish_reason, FinishReason::Context);
    let ids = expected.ids.clone();
    let by = speculator(Oracle { ids, wrong: 0, vocab: 1 });
    assert_same(&speculated(&model, by, &prompt, &options), &expected, "the context");
}

#[test]
fn a_caller_that_stops_at_a_token_gets_nothing_of_those_behind_it() {
    let model = bundled(&device()).model;
    let prompt = vec![0, 5, 6];
    let options = options(20, 1.0, 1);
    let whole = alone(&model, &prompt, &options);
    for stop in [1, 2, 6, 7, 19, 20] {
        let mut seen = 0;
        let expected = generate::cached(&model, &prompt, &options, &mut |_| {
            seen += 1;
            if seen == stop {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
        let mut batch = Batch::new(&model);
        batch.set_speculation(Some(Speculation::new(DraftSource::Lookup, 8)));
        let mut seen = 0;
        let repeating = [&prompt[..], &whole.ids, &prompt[..]].concat();
        for prompt in [&prompt, &repeating] {
            let alone = generate::cached(&model, prompt, &options, &mut |chosen| {
                if chosen.token.index + 1 == stop {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            seen = 0;
            let found = batch.run(from_ref(prompt), from_ref(&options), &mut |_, _| {
                seen += 1;
                if seen == stop {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            let (found, mut alone) = (found.unwrap().remove(0), alone.unwrap());
            // In a batch a break at the last token has no effect.
            if stop == 20 {
                alone.finish_reason = FinishReason::Length;
            }
            assert_same(&found, &alone, &format!("stopped at {stop}"));
        }
        assert_eq!((seen, expected.ids.len()), (stop, stop));
    }
}

#[test]
fn stop_strings_inside_draft_tokens_end_the_text_where_they_would() {
    let texts = |speculation: Option<Speculation>, stops: &[String]| {
        let mut builder = InferenceBuilder::new().with_model(bundled(&device()));
        if let Some(speculation) = speculation {
            builder = builder.with_speculation(speculation);
        }
        let inference = builder.build(streaming_handler).unwrap();
        let text = |stop: &String| {
            let request = GenerateRequest::new("Once upon a time").with_max_tokens(60);
            let mut request = request.with_temperature(0.7).with_seed(3).with_ignore_eos(true);
            request.stop = vec![stop.clone()];
            let job = inference.infer(request).spawn();
            let text: String = job.stream.iter().map(|token| token.token).collect();
            let completion = job.join().unwrap();
            let usage = completion.usage;
            assert!(usage.accepted_tokens <= usage.drafted_tokens);
            assert!(usage.accepted_tokens < usage.completion_tokens, "some are cut off");
            (text, completion.finish_reason, usage.completion_tokens)
        };
        let texts: Vec<_> = stops.iter().map(text).collect();
        (texts, inference.load().unwrap().engine)
    };
    let whole = texts(None, &["never".to_owned()]).0.remove(0).0;
    // Parts of the text, of several tokens and of parts of tokens.
    let chars: Vec<char> = whole.chars().collect();
    let part = |start: usize| chars[start..start + 6].iter().collect::<String>();
    let stops = [10, 31, 52, 73, 94, 115].map(part);
    let (expected, plain) = texts(None, &stops);
    assert!(expected.iter().all(|(_, reason, _)| matches!(reason, FinishReason::StopString(_))));
    let draft = Speculation::new(DraftSource::Model(small()), 8);
    let (found, stats) = texts(Some(draft), &stops);
    assert_eq!(found, expected);
    assert_eq!((plain.drafted_tokens, plain.accepted_tokens), (0, 0));
    assert!(stats.accepted_tokens > 20 && stats.accepted_tokens <= stats.drafted_tokens);
}

/// A draft model that is the model itself is always right: so it is known which tokens were guessed.
#[test]
fn what_a_stop_string_cuts_off_was_not_accepted() {
    const MOST_TOKENS: usize = 60;
    let itself = Arc::new(bundled(&device()).model);
    let inference = InferenceBuilder::new()
        .with_model(bundled(&device()))
        .with_speculation(Speculation::new(DraftSource::Model(itself), 8))
        .build(streaming_handler)
        .unwrap();
    let ask = |stop: &str| {
        let request = GenerateRequest::new("Once upon a time").with_max_tokens(MOST_TOKENS);
        let mut request = request.with_temperature(0.7).with_seed(3).with_ignore_eos(true);
        request.stop = vec![stop.to_owned()];
        let job = inference.infer(request).spawn();
        let text: String = job.stream.iter().map(|token| token.token).collect();
        (text, job.join().unwrap().usage)
    };
    // The first token comes from the prompt, and after each run of guesses a bonus token.
    let guessed = |tokens: usize| {
        let (mut next, mut length, mut guessed) = (1, 4, 0);
        while next < tokens {
            let drafted = length.min(MOST_TOKENS - next - 1);
            guessed += drafted.min(tokens - next);
            next += drafted + 1;
            length = (length + 2).min(8);
        }
        guessed
    };
    let (whole, usage) = ask("never");
    assert_eq!(usage.completion_tokens, MOST_TOKENS);
    assert_eq!(usage.accepted_tokens, guessed(MOST_TOKENS));
    let (chars, mut cut) = (whole.chars().collect::<Vec<_>>(), 0);
    for start in (2..100).step_by(7) {
        let (_, usage) = ask(&chars[start..start + 5].iter().collect::<String>());
        assert_eq!(usage.accepted_tokens, guessed(usage.completion_tokens), "from {start}");
        cut += usage.drafted_tokens - usage.accepted_tokens;
    }
    assert!(cut > 10, "{cut}");
}

/// It is called for positions that the text may not reach: a caller may stop before.
#[test]
fn a_rule_that_fails_behind_an_accepted_token_fails_the_text_in_the_step_that_gets_there() {
    let model = bundled(&device()).model;
    let (prompt, options) = ([0, 5, 6], options(20, 1.0, 1));
    let expected = alone(&model, &prompt, &options);
    for (fails_at, panics) in [1, 2, 4, 9].into_iter().flat_map(|at| [(at, false), (at, true)]) {
        let fails = move |scores: &mut [f32], _: &[u32], output: &[u32]| {
            assert!(!panics || output.len() != fails_at, "a rule of the test's own");
            if output.len() == fails_at {
                scores.fill(f32::NEG_INFINITY);
            }
        };
        let join = |batch: &mut Batch<'_>| {
            let rules = Rules(vec![Arc::new(fails)]);
            let id = batch.join(&prompt, &Options { rules, ..options.clone() }).unwrap();
            let oracle = Oracle { ids: expected.ids.clone(), wrong: 0, vocab: 1 };
            batch.speculate(id, speculator(oracle));
            id
        };
        let mut batch = Batch::new(&model);
        join(&mut batch);
        let (mut seen, mut failed) = (Vec::new(), false);
        while !batch.is_empty() {
            let before = seen.len();
            for (_, event) in batch.step() {
                match event {
                    Event::Token(token) => seen.push(token.token_id),
                    Event::Failed(error) => {
                        let is_its_own = match &error {
                            Error::Request(RequestError::Scores { .. }) => !panics,
                            Error::Service(ServiceError::Panicked { .. }) => panics,
                            _ => false,
                        };
                        assert!(is_its_own, "{error}");
                        assert_eq!((before, failed), (fails_at, false));
                        failed = true;
                    }
                    Event::Finished(generation) => panic!("{generation:?}"),
                }
            }
        }
        assert!(failed);
        assert_eq!(seen, expected.ids[..fails_at]);

        // A caller that stops at the token before never gets there.
        let id = join(&mut batch);
        let mut seen = 0;
        while seen < fails_at {
            let tokens = batch.step().into_iter().map(|(_, event)| match event {
                Event::Token(token) => token.token_id,
                other => panic!("{other:?}"),
            });
            seen += tokens.count();
        }
        assert_eq!(batch.leave(id).unwrap().ids, expected.ids[..fails_at]);
    }
}
