//! The promises of `slowburn::inference`, one by one.

mod bounds;
mod callers;
#[path = "../common/mod.rs"]
mod common;
mod failures;
mod handlers;
mod metrics;
mod text;
mod turns;
mod waits;

use std::borrow::Borrow;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use burn::tensor::DType;
use common::watchdog::watch;
use common::{device, fixture, go_on, load};
use slowburn::checkpoint::Weights;
use slowburn::generate::{self, Generation, Options};
use slowburn::inference::{
    CancelToken, Completion, FinishReason, GenerateRequest, In, Inference, InferenceBuilder, Job,
    Load, ModelHandle, OutStream, Prefill, Progress, Prompt, State, TokenOutput, Usage,
    batch_handler, streaming_handler,
};
use slowburn::model::ModelConfig;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Rule, SamplingParams};
use slowburn::{DeviceError, Error, RequestError, Result, ServiceError};

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
        ..Options::default()
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

/// No sequence is left, and none holds memory.
#[track_caller]
fn assert_idle<I, O, M, S>(inference: &Inference<I, O, M, S>) {
    let load = inference.load().unwrap();
    assert!(load.is_idle(), "{load:?}");
}
