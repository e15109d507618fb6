//! What a request asks for, and the text that comes of it.

use super::*;

#[test]
fn a_job_streams_what_it_would_write_alone() {
    watch(|| {
        let inference = streaming();
        for request in [
            endless("Once", 1).with_max_tokens(30).with_logprobs(2),
            endless("Once", 2).with_max_tokens(1),
            endless("a", 0).with_temperature(0.0),
            GenerateRequest::new("Once upon").with_temperature(1.3).with_seed(7),
            GenerateRequest::new(vec![5, 6, 7]).with_seed(2),
            endless(&"long ".repeat(30), 3).with_max_tokens(usize::MAX),
        ] {
            let alone = alone(&request);
            let prompt_tokens = prompt_ids(&request).len();
            let (outputs, completion) = drained(inference.infer(request.clone()).spawn());
            assert_eq!(ids(&outputs), alone.ids);
            assert_eq!(completion.finish_reason, alone.finish_reason);
            assert_eq!(completion.usage.prompt_tokens, prompt_tokens);
            assert_eq!(completion.usage.completion_tokens, alone.ids.len());
            for (output, logprobs) in outputs.iter().zip(&alone.logprobs) {
                assert_eq!(output.logprob, Some(logprobs.logprob));
                assert_eq!(output.top_logprobs, logprobs.top);
            }
            assert!(request.logprobs.is_some() || outputs[0].logprob.is_none());

            // Collected, and without a thread: the same.
            let collected = inference.infer(request.clone()).run().unwrap();
            assert_eq!(collected.outputs, outputs);
            assert_eq!(collected.completions[0].finish_reason, completion.finish_reason);
            let options = Options {
                max_tokens: request.max_tokens,
                sampling: request.sampling,
                ignore_eos: request.ignore_eos,
                logprobs: request.logprobs,
                stop_ids: Vec::new(),
                ..Options::default()
            };
            let mut called = String::new();
            let Prompt::Text(prompt) = &request.prompt else {
                continue;
            };
            let generation = model().stream(prompt, &options, |piece| {
                called.push_str(piece);
                ControlFlow::Continue(())
            });
            assert_eq!(called, text(&outputs));
            assert_eq!(generation.unwrap().finish_reason, alone.finish_reason);
        }
        assert_idle(&inference);
    });
}

/// The second of two equal prompts takes the full blocks of the first. A block holds 32 tokens.
#[test]
fn usage_says_how_much_of_the_prompt_was_cached() {
    watch(|| {
        let inference = streaming();
        let request = GenerateRequest::new((0..70).map(|i| i % 50).collect::<Vec<u32>>());
        let usage = |request: &GenerateRequest| {
            let (_, completion) = drained(inference.infer(request.clone()).spawn());
            assert_eq!(completion.preemptions, 0);
            completion.usage
        };
        let request = request.with_max_tokens(3).with_ignore_eos(true);
        let usages = [&request, &request].map(usage);
        let expected = |cached_tokens| Usage {
            prompt_tokens: 70,
            completion_tokens: 3,
            cached_tokens,
            ..Usage::default()
        };
        assert_eq!(usages, [expected(0), expected(64)]);
        // A sequence that ends for another reason tells it too.
        let job = inference.infer(request.with_max_tokens(100)).spawn();
        assert!(job.stream.iter().next().is_some());
        job.cancel();
        let completion = job.join().unwrap();
        assert_eq!(completion.finish_reason, FinishReason::Cancelled);
        assert_eq!(completion.usage.cached_tokens, 64);
    });
}

#[test]
fn a_completion_says_how_often_it_lost_its_blocks() {
    watch(|| {
        // Blocks for one sequence of 206 tokens, and no more.
        let mut small = load("llama-gqa", &device());
        let bytes = 7 * small.model.kv_pool().block_bytes();
        small.model = small.model.with_kv_cache_bytes(bytes);
        let inference = InferenceBuilder::new()
            .with_model(small)
            .with_stream_capacity(1000)
            .build(batch_handler)
            .unwrap();
        let request = |seed| GenerateRequest {
            prompt: Prompt::Ids(vec![5, 6, 7, 8, 9, seed as u32]),
            ..endless("", seed)
        };
        let requests = vec![request(1), request(2)];
        let collected = inference.infer(requests.clone()).run().unwrap();
        let [first, second] = [0, 1].map(|index| collected.completions[index].clone());
        assert_eq!(first.preemptions, 0, "nobody is earlier");
        assert!(second.preemptions > 0);
        for (index, request) in requests.iter().enumerate() {
            let found = collected.outputs.iter().filter(|(of, _)| *of == index);
            let found: Vec<u32> = found.map(|(_, output)| output.token_id).collect();
            assert_eq!(found, alone(request).ids);
        }
    });
}

#[test]
fn timings_are_in_order() {
    watch(|| {
        let inference = streaming();
        let (_, completion) = drained(inference.infer(endless("Once", 1)).spawn());
        let timings = completion.timings;
        let (ttft, tpot) = (timings.ttft.unwrap(), timings.tpot.unwrap());
        assert!(timings.queue <= ttft && ttft <= timings.total, "{timings:?}");
        assert!(ttft + tpot * 198 <= timings.total, "{timings:?}");
        let one = endless("Once", 1).with_max_tokens(1);
        assert_eq!(drained(inference.infer(one).spawn()).1.timings.tpot, None);
    });
}

#[test]
fn without_a_thread_a_callback_stops_the_text() {
    let mut called = 0;
    let options = Options { max_tokens: 50, ignore_eos: true, ..Options::default() };
    let stopped = model().stream("Once", &options, |_| {
        called += 1;
        if called < 6 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let stopped = stopped.unwrap();
    assert_eq!(stopped.finish_reason, generate::FinishReason::Stopped);
    assert_eq!(called, 6, "it is not called again");
    assert_eq!(stopped.ids.len(), 6);
}

/// The text that streams is that of the loop in chapter 5, which knows of no stop strings.
#[test]
fn pieces_of_characters_are_held_back_and_nothing_is_lost() {
    watch(|| {
        let (inference, model) = (streaming(), model());
        for seed in 0..20 {
            let request = endless("Once", seed).with_max_tokens(60).with_temperature(1.5);
            let options = Options {
                max_tokens: 60,
                sampling: request.sampling.clone(),
                ignore_eos: true,
                ..Options::default()
            };
            let mut expected = String::new();
            let prompt = model.prompt_ids("Once").unwrap();
            generate::stream_text(generate::cached, &model, &prompt, &options, |piece| {
                expected.push_str(piece);
                ControlFlow::Continue(())
            })
            .unwrap();
            let (outputs, _) = drained(inference.infer(request).spawn());
            assert_eq!(outputs.len(), 60);
            assert_eq!(text(&outputs), expected);
        }
    });
}

/// U+FFFD comes with the last token, also where that has a text already.
#[test]
fn a_text_that_ends_inside_a_character_shows_that() {
    watch(|| {
        // A byte that begins a character. The next one shows that it is none, and begins another.
        let (inference, model) = (streaming(), model());
        let begins = |id: &u32| model.tokenizer.token_bytes(*id).as_deref() == Some(&[0xC3][..]);
        let id = (0..320).find(begins).unwrap();
        let mut request = endless("Once", 1).with_temperature(0.0);
        request.sampling.logit_bias.insert(id, 100.0);
        let (outputs, _) = drained(inference.infer(request.with_max_tokens(3)).spawn());
        assert_eq!(ids(&outputs), [id; 3]);
        let texts: Vec<&str> = outputs.iter().map(|output| output.token.as_str()).collect();
        assert_eq!(texts, ["", "\u{FFFD}", "\u{FFFD}\u{FFFD}"]);
    });
}

#[test]
fn a_stop_string_ends_the_text_wherever_the_tokens_are_cut() {
    watch(|| {
        let inference = streaming();
        let request = endless("Once", 5).with_max_tokens(40);
        let (free, _) = drained(inference.infer(request.clone()).spawn());
        let whole = text(&free);
        let places: Vec<usize> = whole.char_indices().map(|(at, _)| at).collect();
        let mut straddling = 0;
        for (i, &start) in places.iter().enumerate().skip(3).step_by(3) {
            for length in [1, 2, 5, 9] {
                let end = *places.get(i + length).unwrap_or(&whole.len());
                let stop = &whole[start..end];
                // A string that never comes, and one that comes later, change nothing.
                let stopping = request
                    .clone()
                    .with_stop(stop)
                    .with_stop(format!("{stop} not here"))
                    .with_stop(&whole[start..]);
                let (found, completion) = drained(inference.infer(stopping).spawn());
                let first = whole.find(stop).unwrap();
                assert_eq!(text(&found), whole[..first], "{stop:?}");
                let reason = FinishReason::StopString(stop.to_owned());
                assert_eq!(completion.finish_reason, reason);
                assert_eq!(completion.usage.completion_tokens, found.len());
                assert_eq!(ids(&found), ids(&free)[..found.len()]);
                let last = found.last().unwrap();
                straddling += usize::from(!stop.starts_with(&free[last.index].token));
            }
        }
        assert!(straddling > 5, "{straddling}");
    });
}

#[test]
fn a_stop_id_ends_the_text() {
    watch(|| {
        let inference = streaming();
        let request = endless("Once", 5);
        let free = alone(&request).ids;
        let stop = *free.iter().skip(9).find(|id| !free[..9].contains(id)).unwrap();
        let (found, completion) = drained(inference.infer(request.with_stop_id(stop)).spawn());
        assert_eq!(completion.finish_reason, FinishReason::StopId(stop));
        assert_eq!(ids(&found), free[..free.iter().position(|id| *id == stop).unwrap()]);
    });
}

#[test]
fn requests_that_are_wrong_are_refused_by_the_name_of_their_field() {
    watch(|| {
        let inference = streaming();
        let request = GenerateRequest::new("Once");
        let sampled = |change: fn(&mut SamplingParams)| {
            let mut request = request.clone();
            change(&mut request.sampling);
            request
        };
        for (wrong, field) in [
            (request.clone().with_max_tokens(0), "max_tokens"),
            (request.clone().with_stop(""), "stop"),
            (request.clone().with_deadline(Duration::ZERO), "deadline"),
            (request.clone().with_temperature(-1.0), "temperature"),
            (sampled(|sampling| sampling.top_k = Some(0)), "top_k"),
            (sampled(|sampling| sampling.top_p = Some(1.5)), "top_p"),
            (sampled(|sampling| sampling.min_p = Some(-0.1)), "min_p"),
            (sampled(|sampling| sampling.typical_p = Some(0.0)), "typical_p"),
            (sampled(|sampling| sampling.repetition_penalty = 0.0), "repetition_penalty"),
            (sampled(|sampling| sampling.frequency_penalty = 3.0), "frequency_penalty"),
            (sampled(|sampling| sampling.presence_penalty = f32::NAN), "presence_penalty"),
            (sampled(|sampling| _ = sampling.logit_bias.insert(3, -101.0)), "logit_bias"),
        ] {
            let error = wrong.validate().unwrap_err();
            assert!(
                matches!(error, Error::Request(RequestError::Parameter { name, .. }) if name == field),
                "{error}"
            );
            let error = inference.infer(wrong).run().unwrap_err();
            assert!(
                matches!(error, Error::Request(RequestError::Parameter { name, .. }) if name == field),
                "{error}"
            );
        }
        let outside =
            inference.infer(sampled(|sampling| _ = sampling.logit_bias.insert(320, 1.0))).run();
        let error = outside.unwrap_err();
        assert!(
            matches!(error, Error::Request(RequestError::Parameter { name: "logit_bias", .. })),
            "{error}"
        );
        let long = GenerateRequest::new("word ".repeat(1000));
        let error = inference.infer(long).run().unwrap_err();
        assert!(
            matches!(error, Error::Request(RequestError::PromptTooLong { context: 256, .. })),
            "{error}"
        );
    });
}

#[test]
fn a_request_is_flat_json_in_which_only_the_prompt_is_needed() {
    let read = |json: &str| serde_json::from_str::<GenerateRequest>(json);
    assert_eq!(read(r#"{"prompt": "Once"}"#).unwrap(), GenerateRequest::new("Once"));
    let json = r#"{"prompt": "Once", "max_tokens": 5, "temperature": 0.7, "top_k": 3, "seed": 9,
        "stop": ["."], "stop_ids": [4], "ignore_eos": true, "logprobs": 2, "deadline": 1.5,
        "logit_bias": {"262": -100, "7": 0.5}}"#;
    let request = GenerateRequest::new("Once")
        .with_max_tokens(5)
        .with_sampling(SamplingParams {
            top_k: Some(3),
            logit_bias: [(262, -100.0), (7, 0.5)].into(),
            ..SamplingParams::default()
        })
        .with_temperature(0.7)
        .with_seed(9)
        .with_stop(".")
        .with_stop_id(4)
        .with_ignore_eos(true)
        .with_logprobs(2)
        .with_deadline(Duration::from_millis(1500));
    assert_eq!(read(json).unwrap(), request);
    assert_eq!(read(r#"{"prompt": [1, 2]}"#).unwrap(), GenerateRequest::new(vec![1, 2]));
    assert_eq!(read(&serde_json::to_string(&request).unwrap()).unwrap(), request);
    for (wrong, message) in [
        (r#"{"max_tokens": 5}"#, "prompt"),
        (r#"{"prompt": "Once", "temprature": 1}"#, "temprature"),
        (r#"{"prompt": "Once", "deadline": -1}"#, "negative"),
        (r#"{"prompt": "Once", "max_tokens": "many"}"#, "invalid type"),
    ] {
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
