//! The promises of `slowburn::inference`, one by one.

mod common;

use std::borrow::Borrow;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use burn::tensor::DType;
use common::watchdog::watch;
use common::{device, fixture, go_on, load};
use slowburn::generate::{self, Generation, Options};
use slowburn::inference::{
    CancelToken, Completion, FinishReason, GenerateRequest, In, Inference, InferenceBuilder, Job,
    Load, ModelAccessor, OutStream, Progress, Prompt, State, TokenOutput, batch_handler,
    streaming_handler,
};
use slowburn::model::{ModelConfig, Weights};
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Rule, SamplingParams};
use slowburn::{Error, Result};

type Model = Arc<Pretrained>;
type Streaming = Inference<GenerateRequest, TokenOutput, Model>;

/// A model of random weights, small and fast. What it writes is no text, but bytes of any kind.
fn model() -> Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| Arc::new(load("llama-gqa", &device()))).clone()
}

fn streaming() -> Streaming {
    InferenceBuilder::new().with_model(model()).build(streaming_handler).unwrap()
}

/// A request that goes on for as long as it may.
fn endless(prompt: &str, seed: u64) -> GenerateRequest {
    GenerateRequest::new(prompt).with_max_tokens(200).with_ignore_eos(true).with_seed(seed)
}

/// What the loop of chapter 5 makes of a request.
fn alone(request: &GenerateRequest) -> Generation {
    let options = Options {
        max_tokens: request.max_tokens,
        sampling: request.sampling.clone(),
        ignore_eos: request.ignore_eos,
        logprobs: request.logprobs,
        stop_ids: request.stop_ids.clone(),
    };
    let model = model();
    let prompt = prompt_ids(request);
    generate::cached(&model.model, &prompt, &options, &mut go_on).unwrap()
}

fn prompt_ids(request: &GenerateRequest) -> Vec<u32> {
    match &request.prompt {
        Prompt::Text(text) => model().prompt_ids(text).unwrap(),
        Prompt::Ids(ids) => ids.clone(),
    }
}

fn ids(outputs: &[TokenOutput]) -> Vec<u32> {
    outputs.iter().map(|output| output.token_id).collect()
}

fn text(outputs: &[TokenOutput]) -> String {
    outputs.iter().map(|output| output.token.as_str()).collect()
}

fn drained(job: Job<TokenOutput>) -> (Vec<TokenOutput>, Completion) {
    let outputs: Vec<_> = job.stream.iter().collect();
    for (i, output) in outputs.iter().enumerate() {
        assert_eq!(output.index, i, "the tokens are in order");
    }
    (outputs, job.join().unwrap())
}

const NOTHING: Load = Load { running: 0, paused: 0, waiting: 0, kv_cache_bytes: 0 };

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
            assert_eq!(completion.finish_reason, alone.finish_reason.into());
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
            };
            let mut called = Vec::new();
            let Prompt::Text(prompt) = &request.prompt else {
                continue;
            };
            let generation = model().generate_streaming(prompt, &options, |token| {
                called.push(token);
                ControlFlow::Continue(())
            });
            assert_eq!(called, outputs);
            assert_eq!(generation.unwrap().finish_reason, alone.finish_reason);
        }
        assert_eq!(inference.load().unwrap(), NOTHING);
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
    let stopped = model().generate_streaming("Once", &options, |token| {
        called += 1;
        match token.index {
            0..5 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    });
    let stopped = stopped.unwrap();
    assert_eq!(stopped.finish_reason, generate::FinishReason::Stopped);
    assert_eq!(called, 6, "it is not called again");
    assert!(stopped.ids.len() >= 6, "those that were held back came later");
}

/// The last handle may be held by a callback, which runs in the thread that is to end.
#[test]
fn an_inference_may_be_dropped_by_its_own_callback() {
    watch(|| {
        let inference = Arc::new(streaming());
        let held = Mutex::new(Some(inference.clone()));
        let (dropped, was_dropped) = std::sync::mpsc::channel();
        let (go, may_go) = std::sync::mpsc::channel();
        let job = inference
            .infer(endless("Once", 1))
            .with_progress(move |progress| {
                if progress.tokens == 3 {
                    may_go.recv().unwrap();
                    held.lock().unwrap().take();
                    dropped.send(()).unwrap();
                }
            })
            .spawn();
        drop(inference);
        go.send(()).unwrap();
        was_dropped.recv().unwrap();
        assert_eq!(job.join().unwrap().finish_reason, FinishReason::Shutdown);
    });
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

/// Writes down for each token which job it belongs to.
fn logging_handler(
    In(request): In<GenerateRequest>,
    model: ModelAccessor<Model>,
    State(log): State<Arc<Mutex<Vec<u64>>>>,
    output: OutStream<TokenOutput>,
) -> Result<()> {
    let job = request.sampling.seed;
    model.prepare(&request)?.start(move |token| {
        log.lock().unwrap().push(job);
        output.emit(token)
    })
}

#[test]
fn jobs_are_interleaved_a_step_at_a_time() {
    watch(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_state(log.clone())
            .with_stream_capacity(1000)
            .build(logging_handler)
            .unwrap();
        // The first one holds the batch up, after its first token, until the others are there.
        let (go, may_go) = std::sync::mpsc::channel();
        let first = inference.infer(endless("Once", 1)).with_progress(move |progress| {
            if progress.tokens == 1 {
                may_go.recv().unwrap();
            }
        });
        let mut jobs = vec![first.spawn()];
        jobs.extend([2, 3].map(|seed| inference.infer(endless("Once", seed)).spawn()));
        go.send(()).unwrap();
        for (seed, job) in (1..).zip(jobs) {
            let (outputs, _) = drained(job);
            assert_eq!(ids(&outputs), alone(&endless("Once", seed)).ids);
        }
        // Those that share a step are told in the order in which they joined. A token whose
        // character is not complete is told a step later.
        let log = log.lock().unwrap();
        assert_eq!(log.len(), 600);
        let told = |job: u64, upto: usize| log[..upto].iter().filter(|j| **j == job).count();
        for upto in 30..590 {
            let counts = [told(1, upto), told(2, upto), told(3, upto)];
            let (most, least) = (counts.iter().max().unwrap(), counts.iter().min().unwrap());
            assert!(most - least < 12, "{counts:?} of {upto}");
        }
    });
}

#[test]
fn a_job_that_is_cancelled_ends_and_can_be_read() {
    watch(|| {
        let inference = streaming();
        let request = endless("Once", 1);
        let job = inference.infer(request.clone()).spawn();
        let mut outputs: Vec<_> = job.stream.iter().take(5).collect();
        job.cancel();
        assert_eq!(inference.load().unwrap(), NOTHING);
        outputs.extend(&job.stream);
        assert!(outputs.len() < 100, "{} tokens", outputs.len());
        assert_eq!(ids(&outputs), alone(&request).ids[..outputs.len()]);
        let completion = job.join().unwrap();
        assert_eq!(completion.finish_reason, FinishReason::Cancelled);
        assert_eq!(completion.usage.completion_tokens, outputs.len());
    });
}

#[test]
fn a_job_that_is_dropped_is_gone_before_the_next_step() {
    watch(|| {
        let inference = streaming();
        let job = inference.infer(endless("Once", 1)).spawn();
        assert!(job.stream.iter().next().is_some());
        assert_eq!(inference.load().unwrap().kv_cache_bytes % 2, 0);
        drop(job);
        assert_eq!(inference.load().unwrap(), NOTHING);
        // So is one whose stream is.
        let job = inference.infer(endless("Once", 2)).spawn();
        let cancel = job.cancel_token();
        let Job { stream, .. } = job;
        drop(stream);
        assert!(cancel.is_cancelled());
        assert_eq!(inference.load().unwrap(), NOTHING);
    });
}

#[test]
fn a_slow_reader_slows_only_itself() {
    watch(|| {
        // One may run at a time: one that waits for its reader must not count.
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_stream_capacity(2)
            .with_max_running(1)
            .build(streaming_handler)
            .unwrap();
        let slow = endless("Once", 1);
        let job = inference.infer(slow.clone()).spawn();
        for seed in 2..6 {
            let request = endless("upon", seed);
            let (outputs, _) = drained(inference.infer(request.clone()).spawn());
            assert_eq!(ids(&outputs), alone(&request).ids);
        }
        let load = inference.load().unwrap();
        assert_eq!((load.running, load.paused), (0, 1));
        assert!(load.kv_cache_bytes > 0);
        let (outputs, _) = drained(job);
        assert_eq!(ids(&outputs), alone(&slow).ids, "nothing was lost while it paused");
        assert_eq!(inference.load().unwrap(), NOTHING);
    });
}

#[test]
fn joining_reads_what_nobody_reads() {
    watch(|| {
        let inference = streaming();
        let completion = inference.infer(endless("Once", 1)).spawn().join().unwrap();
        assert_eq!(completion.finish_reason, FinishReason::Length);
        assert_eq!(completion.usage.completion_tokens, 200);
    });
}

#[test]
fn a_deadline_ends_what_runs_what_pauses_and_what_waits() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_stream_capacity(2)
            .build(streaming_handler)
            .unwrap();
        // Time enough for a few tokens, however busy the machine is. Then nobody reads.
        let soon = Duration::from_secs(2);
        let paused = inference.infer(endless("Once", 1).with_deadline(soon)).spawn();
        while inference.load().unwrap() != NOTHING {
            std::thread::sleep(Duration::from_millis(1));
        }
        let (outputs, completion) = drained(paused);
        assert!(!outputs.is_empty());
        assert_eq!(completion.finish_reason, FinishReason::Deadline);
        assert!(completion.timings.total >= soon);
        // It is over before it begins.
        let now = endless("Once", 1).with_deadline(Duration::from_nanos(1));
        let (outputs, completion) = drained(inference.infer(now).spawn());
        assert_eq!(completion.finish_reason, FinishReason::Deadline);
        assert_eq!((outputs.len(), completion.timings.ttft), (0, None));
        // There is time enough, however long that is.
        let later = endless("Once", 1).with_deadline(Duration::MAX);
        let (_, completion) = drained(inference.infer(later).spawn());
        assert_eq!(completion.finish_reason, FinishReason::Length);
    });
}

/// Panics where the prompt says.
fn panicking_handler(
    In(request): In<GenerateRequest>,
    model: ModelAccessor<Model>,
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
            let Error::Panicked { message, .. } = &error else {
                panic!("{place}: {error}");
            };
            assert!(message.contains("is wrong"), "{error}");
        }
        let progress = inference.infer(endless("Once", 3)).with_progress(|progress| {
            assert!(progress.tokens < 3, "the progress callback is wrong");
        });
        assert!(matches!(progress.run().unwrap_err(), Error::Panicked { .. }));
        let (outputs, _) = drained(good);
        assert_eq!(ids(&outputs), alone(&endless("Once", 1)).ids);
        let (outputs, _) = drained(inference.infer(endless("Once", 4)).spawn());
        assert_eq!(outputs.len(), 200, "the thread is alive");
        assert_eq!(inference.load().unwrap(), NOTHING);
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
            assert!(matches!(error, Error::Device(_)), "{error:?}");
            assert!(error.to_string().contains("the model panicked"), "{error}");
        }
        assert_eq!(inference.load().unwrap(), NOTHING, "and no cache is left");
        assert!(matches!(inference.warm_up().unwrap_err(), Error::Panicked { .. }));
        assert!(matches!(spawn(6).join().unwrap_err(), Error::Device(_)));
    });
}

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
    model: ModelAccessor<Named>,
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
            Err(error) => assert!(matches!(error, Error::ShutDown), "{error}"),
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

#[test]
fn requests_that_are_wrong_are_refused_by_the_name_of_their_field() {
    watch(|| {
        let inference = streaming();
        let request = GenerateRequest::new("Once");
        for (wrong, field) in [
            (request.clone().with_max_tokens(0), "max_tokens"),
            (request.clone().with_stop(""), "stop"),
            (request.clone().with_deadline(Duration::ZERO), "deadline"),
            (request.clone().with_temperature(-1.0), "temperature"),
            (request.clone().with_top_k(0), "top_k"),
            (request.clone().with_top_p(1.5), "top_p"),
            (request.clone().with_min_p(-0.1), "min_p"),
            (request.clone().with_typical_p(0.0), "typical_p"),
            (request.clone().with_repetition_penalty(0.0), "repetition_penalty"),
            (request.clone().with_frequency_penalty(3.0), "frequency_penalty"),
            (request.clone().with_presence_penalty(f32::NAN), "presence_penalty"),
        ] {
            let error = wrong.validate().unwrap_err();
            assert!(matches!(error, Error::Parameter { name, .. } if name == field), "{error}");
            let error = inference.infer(wrong).run().unwrap_err();
            assert!(matches!(error, Error::Parameter { name, .. } if name == field), "{error}");
        }
        let long = GenerateRequest::new("word ".repeat(1000));
        let error = inference.infer(long).run().unwrap_err();
        assert!(matches!(error, Error::PromptTooLong { context: 256, .. }), "{error}");
    });
}

#[test]
fn a_request_is_flat_json_in_which_only_the_prompt_is_needed() {
    let read = |json: &str| serde_json::from_str::<GenerateRequest>(json);
    assert_eq!(read(r#"{"prompt": "Once"}"#).unwrap(), GenerateRequest::new("Once"));
    let json = r#"{"prompt": "Once", "max_tokens": 5, "temperature": 0.7, "top_k": 3, "seed": 9,
        "stop": ["."], "stop_ids": [4], "ignore_eos": true, "logprobs": 2, "deadline": 1.5}"#;
    let request = GenerateRequest::new("Once")
        .with_max_tokens(5)
        .with_sampling(SamplingParams { seed: 1, ..SamplingParams::default() })
        .with_temperature(0.7)
        .with_top_k(3)
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
        assert!(matches!(inference.infer(wrong).run(), Err(Error::Parameter { .. })));
        assert!(matches!(inference.infer(Vec::new()).run(), Err(Error::NothingStarted)));
        // Two readers, each of its own pace, would be two jobs; this one may leave as a whole.
        drop(inference.infer(requests).spawn());
        assert_eq!(inference.load().unwrap(), NOTHING);
    });
}

// ANCHOR: forbidding_handler
/// Forbids the tokens of its state, and says how many are in the vocabulary.
fn forbidding_handler(
    model: ModelAccessor<Model>,
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
    model: ModelAccessor<Model>,
    cancel: CancelToken,
    State(late): State<Arc<Mutex<Option<Error>>>>,
    output: OutStream<usize>,
) -> Result<()> {
    let prepare = || model.prepare(&endless("Once", 1));
    match how {
        "fails" => return Err(Error::Handler("out of tea".into())),
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
        assert!(matches!(run("starts nothing").unwrap_err(), Error::NothingStarted));
        for (how, reason) in [
            ("cancels", FinishReason::Cancelled),
            ("breaks", FinishReason::Stopped),
        ] {
            let collected = run(how).unwrap();
            assert_eq!(collected.completions[0].finish_reason, reason);
            assert_eq!(collected.outputs.iter().max(), Some(&4), "{how}: within one step");
        }
        assert_eq!(run("is late").unwrap().outputs.len(), 200);
        assert!(matches!(*late.lock().unwrap(), Some(Error::HandlerReturned)));
    });
}

/// Calls the model from a callback, which runs in the model's own thread.
fn waiting_handler(
    In(request): In<GenerateRequest>,
    model: ModelAccessor<Model>,
    errors: State<Arc<Mutex<Vec<Error>>>>,
) -> Result<(), Error> {
    let State(errors) = errors;
    let prepared = model.prepare(&request)?;
    let vocabulary = |pretrained: &Model| pretrained.model.config().vocab_size;
    assert!(model.submit(vocabulary)? > 0, "the handler may wait");
    prepared.start(move |_| {
        errors.lock().unwrap().extend(model.submit(vocabulary).err());
        ControlFlow::Continue(())
    })
}

#[test]
fn a_callback_that_would_wait_for_itself_is_told_so() {
    watch(|| {
        let errors = Arc::new(Mutex::new(Vec::new()));
        let inference: Inference<_, TokenOutput, _, _> = InferenceBuilder::new()
            .with_model(model())
            .with_state(errors.clone())
            .build(waiting_handler)
            .unwrap();
        let request = endless("Once", 1).with_max_tokens(3);
        inference.infer(request).spawn().join().unwrap();
        let errors = errors.lock().unwrap();
        assert_eq!(errors.len(), 3);
        assert!(errors.iter().all(|error| matches!(error, Error::WaitInModelThread)));
    });
}

#[test]
fn progress_is_told_after_each_token() {
    watch(|| {
        let inference = streaming();
        let told = Arc::new(Mutex::new(Vec::new()));
        let keep = told.clone();
        let request = endless("Once", 1).with_max_tokens(25);
        let job = inference.infer(request).with_progress(move |p| keep.lock().unwrap().push(p));
        job.run().unwrap();
        let told: Vec<Progress> = told.lock().unwrap().clone();
        assert_eq!(told.iter().map(|p| p.tokens).collect::<Vec<_>>(), Vec::from_iter(1..=25));
        for progress in &told {
            assert_eq!(progress.max_tokens, 25);
            let rate = progress.tokens as f64 / progress.elapsed.as_secs_f64();
            assert!((progress.tokens_per_second() / rate - 1.0).abs() < 1e-6);
            let left = (25 - progress.tokens) as f64 / rate;
            assert!((progress.time_left().as_secs_f64() - left).abs() < 1e-6);
        }
    });
}

#[test]
fn warming_up_leaves_nothing_behind() {
    watch(|| {
        let inference = streaming();
        assert!(inference.warm_up().unwrap() > Duration::ZERO);
        assert_eq!(inference.load().unwrap(), NOTHING);
        inference.shut_down();
        assert!(matches!(inference.warm_up().unwrap_err(), Error::ShutDown));
        assert!(matches!(inference.load().unwrap_err(), Error::ShutDown));
    });
}

/// Polls a stream in this thread, sleeping while it has nothing.
#[cfg(feature = "async")]
fn block_on<S: futures_core::Stream + Unpin>(mut stream: S) -> Vec<S::Item> {
    use std::pin::Pin;
    use std::task::{Context, Poll, Wake};

    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = Context::from_waker(&waker);
    let mut items = Vec::new();
    loop {
        match Pin::new(&mut stream).poll_next(&mut context) {
            Poll::Ready(Some(item)) => items.push(item),
            Poll::Ready(None) => return items,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(feature = "async")]
#[test]
fn a_stream_can_be_awaited() {
    watch(|| {
        let inference = InferenceBuilder::new()
            .with_model(model())
            .with_stream_capacity(1)
            .build(streaming_handler)
            .unwrap();
        let mut job = inference.infer(endless("Once", 1)).spawn();
        assert_eq!(ids(&block_on(&mut job.stream)), alone(&endless("Once", 1)).ids);
        assert_eq!(job.join().unwrap().finish_reason, FinishReason::Length);
    });
}
