//! What fails, and what goes on then.

use super::*;

/// Panics where the prompt says.
fn panicking_handler(
    In(request): In<GenerateRequest>,
    model: ModelHandle<Model>,
    output: OutStream<TokenOutput>,
) -> Result<()> {
    let Prompt::Text(place) = request.prompt.clone() else {
        return Ok(());
    };
    assert_ne!(place, "handler", "the handler is wrong");
    let rule = {
        let place = place.clone();
        move |_: &mut [f32], _: &[u32], output: &[u32]| {
            assert!(place != "rule" || output.len() < 3, "the rule is wrong");
        }
    };
    model.prepare(&request)?.with_rule(Arc::new(rule)).start(move |token| {
        assert!(place != "callback" || token.index < 3, "the callback is wrong");
        output.emit(token)
    })
}

#[test]
fn a_panic_ends_its_own_job_with_an_error_and_no_other() {
    watch(|| {
        let inference =
            InferenceBuilder::new().with_model(model()).build(panicking_handler).unwrap();
        let good = inference.infer(endless("Once", 1)).spawn();
        for (place, tokens) in [("handler", 0), ("callback", 3), ("rule", 3)] {
            let job = inference.infer(endless(place, 2)).spawn();
            assert!(job.stream.iter().count() <= tokens, "{place}");
            let error = job.join().unwrap_err();
            let Error::Service(ServiceError::Panicked { message, .. }) = &error else {
                panic!("{place}: {error}");
            };
            assert!(message.contains("is wrong"), "{error}");
        }
        let progress = inference.infer(endless("Once", 3)).with_progress(|progress| {
            assert!(progress.tokens < 3, "the progress callback is wrong");
        });
        assert!(matches!(
            progress.run().unwrap_err(),
            Error::Service(ServiceError::Panicked { .. })
        ));
        let (outputs, _) = drained(good);
        assert_eq!(ids(&outputs), alone(&endless("Once", 1)).ids);
        let (outputs, _) = drained(inference.infer(endless("Once", 4)).spawn());
        assert_eq!(outputs.len(), 200, "the thread is alive");
        assert_idle(&inference);
    });
}

/// Starts two sequences, of which the first panics at its fourth token, and notes who has ended.
fn half_panicking_handler(
    In(request): In<GenerateRequest>,
    model: ModelHandle<Model>,
    State(ended): State<Arc<Mutex<Vec<usize>>>>,
) -> Result<()> {
    for index in 0..2 {
        let ended = ended.clone();
        let prepared = model.prepare(&request)?;
        prepared.on_end(move |_| ended.lock().unwrap().push(index)).start(move |token| {
            assert!(index > 0 || token.index < 3, "the callback is wrong");
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

#[test]
fn after_a_sequence_that_failed_no_other_of_its_job_says_that_it_ended() {
    watch(|| {
        let ended = Arc::new(Mutex::new(Vec::new()));
        let inference: Inference<_, TokenOutput, _, _> = InferenceBuilder::new()
            .with_model(model())
            .with_state(ended.clone())
            .build(half_panicking_handler)
            .unwrap();
        let error = inference.infer(endless("Once", 1)).spawn().join_all().unwrap_err();
        assert!(matches!(error, Error::Service(ServiceError::Panicked { .. })), "{error}");
        // The job is over before its other sequence has left.
        assert_idle(&inference);
        assert!(ended.lock().unwrap().is_empty());

        let short = endless("Once", 1).with_max_tokens(2);
        inference.infer(short).spawn().join_all().unwrap();
        assert_eq!(*ended.lock().unwrap(), [0, 1]);
    });
}

/// A model whose heads have a size that RoPE cannot turn: every step panics, as one does on a
/// device that fails. No `config.json` is read that says so.
fn broken() -> Pretrained {
    let file = |name: &str| std::fs::read(fixture("models/llama-gqa").join(name)).unwrap();
    let mut config = ModelConfig::from_json(&file("config.json"), "config.json").unwrap();
    (config.n_heads, config.n_kv_heads, config.head_dim) =
        (config.n_heads * config.head_dim, config.n_kv_heads * config.head_dim, 1);
    let bytes = file("model.safetensors");
    let weights = Weights::from_safetensors(&bytes, "", &device().device, DType::F32).unwrap();
    Pretrained {
        model: slowburn::model::Model::load(config, &weights).unwrap(),
        ..load("llama-gqa", &device())
    }
}

#[test]
fn a_device_that_fails_ends_what_is_in_the_batch_and_the_thread_goes_on() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(broken())
            .with_max_running(2)
            .build(streaming_handler)
            .unwrap();
        // Two at a time fail; the others wait for their turn, and then fail too.
        let spawn = |seed| inference.infer(endless("Once", seed)).spawn();
        let jobs: Vec<_> = (0..5).map(spawn).collect();
        for job in jobs {
            assert_eq!(job.stream.iter().count(), 0);
            let error = job.join().unwrap_err();
            assert!(matches!(error, Error::Device(DeviceError::Failed(_))), "{error:?}");
            assert!(error.to_string().contains("the model failed on a fault"), "{error}");
        }
        assert_idle(&inference);
        assert!(matches!(
            inference.warm_up().unwrap_err(),
            Error::Service(ServiceError::Panicked { .. })
        ));
        assert!(matches!(spawn(6).join().unwrap_err(), Error::Device(DeviceError::Failed(_))));
    });
}

#[test]
fn shutting_down_ends_what_runs_with_a_reason() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_max_running(2)
            .build(streaming_handler)
            .unwrap();
        let jobs: Vec<_> =
            (0..5).map(|seed| inference.infer(endless("Once", seed)).spawn()).collect();
        assert!(jobs[0].stream.iter().next().is_some());
        inference.shut_down();
        for job in jobs {
            let _ = job.stream.iter().count();
            assert_eq!(job.join().unwrap().finish_reason, FinishReason::Shutdown);
        }
        // The thread may not have gone yet: either way the job ends.
        match inference.infer(endless("Once", 1)).spawn().join() {
            Ok(completion) => assert_eq!(completion.finish_reason, FinishReason::Shutdown),
            Err(error) => {
                assert!(matches!(error, Error::Service(ServiceError::ShutDown)), "{error}")
            }
        }
    });
}

#[test]
fn dropping_the_inference_waits_for_its_thread_and_frees_the_model() {
    watch(|| {
        let model = Arc::new(load("llama-gqa", &device()));
        let build = InferenceBuilder::new().with_model(model.clone());
        let inference = build.build(streaming_handler).unwrap();
        let job = inference.infer(endless("Once", 1)).spawn();
        drop(inference);
        assert_eq!(Arc::strong_count(&model), 1);
        let (outputs, completion) = drained(job);
        assert_eq!(completion.finish_reason, FinishReason::Shutdown);
        assert_eq!(completion.usage.completion_tokens, outputs.len());
    });
}

/// Panics when it is dropped; with a payload that does too.
struct Grenade(Arc<AtomicUsize>);

impl Drop for Grenade {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::panic::panic_any(Shrapnel);
    }
}

struct Shrapnel;

impl Drop for Shrapnel {
    fn drop(&mut self) {
        panic!("the payload of a panic is dropped");
    }
}

/// Its callback and its rule panic as they are dropped, and where the prompt says so the callback
/// does before that, with a payload that panics too.
fn grenade_handler(
    In(request): In<GenerateRequest>,
    model: ModelHandle<Model>,
    State(dropped): State<Arc<AtomicUsize>>,
    output: OutStream<TokenOutput>,
) -> Result<()> {
    let panics = request.prompt == Prompt::from("callback");
    let (in_rule, in_callback) = (Grenade(dropped.clone()), Grenade(dropped));
    let rule = move |_: &mut [f32], _: &[u32], _: &[u32]| {
        let _ = &in_rule;
    };
    model.prepare(&request)?.with_rule(Arc::new(rule)).start(move |token| {
        let _ = &in_callback;
        if panics && token.index == 3 {
            std::panic::panic_any(Shrapnel);
        }
        output.emit(token)
    })
}

#[test]
fn a_drop_that_panics_ends_nothing() {
    watch(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_state(dropped.clone())
            .with_max_running(2)
            .build(grenade_handler)
            .unwrap();
        let spawn = |prompt: &str, seed| {
            let (in_progress, panics) = (Grenade(dropped.clone()), prompt == "progress");
            let job = inference.infer(endless(prompt, seed)).with_progress(move |progress| {
                let _ = &in_progress;
                if panics && progress.tokens == 3 {
                    std::panic::panic_any(Shrapnel);
                }
            });
            job.spawn()
        };
        let beside = spawn("Once", 1);
        for prompt in ["callback", "progress"] {
            assert!(matches!(
                spawn(prompt, 2).join(),
                Err(Error::Service(ServiceError::Panicked { .. }))
            ));
        }
        // Those that run, that wait, and that are gone before their turn.
        let jobs: Vec<_> = (0..6).map(|seed| spawn("upon", seed)).collect();
        for job in &jobs[1..] {
            job.cancel();
        }
        for job in jobs {
            job.join().unwrap();
        }
        let (outputs, _) = drained(beside);
        assert_eq!(ids(&outputs), alone(&endless("Once", 1)).ids);
        assert_idle(&inference);
        // One that runs and one that waits while the thread ends.
        let jobs = [7, 8, 9].map(|seed| spawn("Once", seed));
        drop(inference);
        for job in jobs {
            assert_eq!(job.join().unwrap().finish_reason, FinishReason::Shutdown);
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 12 * 3, "each was dropped once");
    });
}
