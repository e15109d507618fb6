//! How a test is run, and what the tests have in common.

use std::sync::{Arc, LazyLock};

use interleavings::grammar::Grammars;
use interleavings::inference::{
    GenerateRequest, Inference, InferenceBuilder, TokenOutput, streaming_handler,
};
use interleavings::model::config::{Activation, Family};
use interleavings::model::{Model, ModelConfig};
use interleavings::pretrained::Pretrained;
use interleavings::tokenizer::Tokenizer;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};

/// Without `SLOWBURN_INTERLEAVINGS`: so many orders of each scheduler.
const ORDERS: usize = 2000;
const SEED: u64 = 15;
/// How often the second scheduler takes the turn from a thread that could go on. Few bugs need more
/// (Burckhardt et al., *A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs*,
/// ASPLOS 2010).
const PREEMPTIONS: usize = 3;

/// Runs `test` in many orders of its threads. Half of them are drawn at each turn; in the others
/// each thread runs as far as it can, but for a few turns.
///
/// In a `thread::scope`, a test does not wait for anything but the end of the scope: shuttle wakes
/// its thread when the last one ends, whatever it waits for.
pub fn check(test: impl Fn() + Send + Sync + 'static) {
    let orders = std::env::var("SLOWBURN_INTERLEAVINGS");
    let orders = orders.map_or(ORDERS, |orders| orders.parse().expect("a number"));
    // What is read in a test is read on the small stack of one of its threads.
    LazyLock::force(&TOKENIZER);
    let test = Arc::new(test);
    run(RandomScheduler::new_from_seed(SEED, orders), test.clone());
    run(PctScheduler::new_from_seed(SEED, PREEMPTIONS, orders), test);
}

fn run(scheduler: impl Scheduler + 'static, test: Arc<impl Fn() + Send + Sync + 'static>) {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.max_steps = MaxSteps::FailAfter(100_000);
    config.silence_warnings = true; // what is not modelled is said in `main.rs`
    Runner::new(scheduler, config).run(move || test());
}

pub type Served = Inference<GenerateRequest, TokenOutput, Pretrained>;

/// A model for which every token is as likely as any other, and none ends the text.
pub fn pretrained() -> Pretrained {
    const VOCAB_SIZE: usize = 2;
    let config = ModelConfig {
        family: Family::Gpt2,
        vocab_size: VOCAB_SIZE,
        d_model: 1,
        n_layers: 1,
        n_heads: 1,
        n_kv_heads: 1,
        head_dim: 1,
        d_ff: 1,
        context_length: 1024,
        norm_eps: 0.0,
        activation: Activation::Gelu,
        tied_head: true,
        bos_token_id: Some(0),
        eos_token_ids: Vec::new(),
    };
    Pretrained {
        model: Model::stub(config, 64, |_, _| Ok(vec![0.0; VOCAB_SIZE])),
        tokenizer: TOKENIZER.clone(),
        unused: Vec::new(),
        dequantized: false,
        warnings: Vec::new(),
        pooling: None,
        grammars: Grammars::default(),
        adapters: Default::default(),
    }
}

/// A tokenizer of two letters.
static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| {
    let json = br#"{
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": null, "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
        "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}
    }"#;
    Tokenizer::from_json(json, "two letters").expect("a tokenizer")
});

/// A model thread with these limits.
pub fn serve(
    limits: impl FnOnce(InferenceBuilder<Pretrained>) -> InferenceBuilder<Pretrained>,
) -> Served {
    let builder = InferenceBuilder::new().with_model(pretrained());
    limits(builder).build(streaming_handler).unwrap()
}

/// A request for so many tokens.
pub fn request(tokens: usize) -> GenerateRequest {
    GenerateRequest::new("a").with_max_tokens(tokens)
}

/// Checks that no sequence is left. Every job has been joined or dropped.
pub fn is_idle<I, O: Send + 'static>(inference: &Inference<I, O, Pretrained>) {
    let load = inference.load().unwrap();
    assert_eq!((load.running, load.paused, load.waiting), (0, 0, 0));
}
