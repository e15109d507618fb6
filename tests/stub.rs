//! A network that the caller brings generates in a build with Burn too: features only add.

use std::ops::ControlFlow;

use slowburn::Result;
use slowburn::engine::RecordedModel;
use slowburn::generate::{self, Batch, Event, Options};
use slowburn::grammar::Grammars;
use slowburn::inference::{GenerateRequest, InferenceBuilder, streaming_handler};
use slowburn::model::config::{Activation, Family};
use slowburn::model::{Input, Logits, Model, ModelConfig};
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::Tokenizer;

const LETTERS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A network for which the next token is the number of tokens so far, modulo the vocabulary.
fn counting(tokens: &[u32], position: usize) -> Result<Vec<f32>> {
    let mut logits = vec![f32::MIN; LETTERS.len()];
    logits[(position + tokens.len()) % LETTERS.len()] = 0.0;
    Ok(logits)
}

fn stub(blocks: usize) -> Model {
    let config = ModelConfig {
        family: Family::Gpt2,
        vocab_size: LETTERS.len(),
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
        bos_token_id: None,
        eos_token_ids: Vec::new(),
    };
    Model::stub(config, blocks, counting)
}

/// What follows a prompt of so many tokens.
fn follows(prompt: usize, tokens: usize) -> Vec<u32> {
    (prompt..prompt + tokens).map(|length| (length % LETTERS.len()) as u32).collect()
}

#[test]
fn a_stub_generates_with_a_cache_and_without() {
    let model = stub(4);
    let options = Options { max_tokens: 70, chunk: 2, ..Options::default() };
    for run in [generate::naive, generate::cached] {
        let generation = run(&model, &[3, 1, 4], &options, &mut |_| ControlFlow::Continue(()));
        assert_eq!(generation.unwrap().ids, follows(3, 70));
    }
    assert_eq!((model.kv_pool().bytes(), model.kv_pool().peak_bytes()), (0, 3));
}

#[test]
fn sequences_of_a_stub_share_a_batch_and_its_blocks() {
    // Two of three fit: one is preempted and computed again.
    let model = stub(1).with_kv_cache_bytes(7);
    let mut batch = Batch::new(&model);
    let options = Options { max_tokens: 90, ..Options::default() };
    let prompts = [&[0][..], &[1; 40], &[2; 33]];
    let ids = prompts.map(|prompt| batch.join(prompt, &options).unwrap());
    let mut preemptions = 0;
    while batch.has_work() {
        for (id, event) in batch.step() {
            if let Event::Finished(generation) = event {
                let prompt = prompts[ids.iter().position(|&joined| joined == id).unwrap()];
                assert_eq!(generation.ids, follows(prompt.len(), 90));
                preemptions += generation.preemptions;
            }
        }
    }
    assert!(preemptions > 0);
}

#[test]
fn a_stub_answers_requests() {
    let vocab = LETTERS.iter().zip(0..).map(|(letter, id)| format!(r#""{letter}": {id}"#));
    let json = format!(
        r#"{{
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
            "pre_tokenizer": null, "post_processor": null,
            "decoder": {{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}},
            "model": {{"type": "WordLevel", "vocab": {{{}}}, "unk_token": "a"}}
        }}"#,
        vocab.collect::<Vec<_>>().join(", ")
    );
    let pretrained = Pretrained {
        model: stub(8),
        tokenizer: Tokenizer::from_json(json.as_bytes(), "five letters").unwrap(),
        unused: Vec::new(),
        dequantized: false,
        warnings: Vec::new(),
        pooling: None,
        grammars: Grammars::default(),
        adapters: Default::default(),
    };
    let inference =
        InferenceBuilder::new().with_model(pretrained).build(streaming_handler).unwrap();
    let job = inference.infer(GenerateRequest::new("d").with_max_tokens(6)).spawn();
    let ids: Vec<u32> = job.stream.iter().map(|output| output.token_id).collect();
    assert_eq!(ids, follows(1, 6));
    assert_eq!(job.join().unwrap().usage.completion_tokens, 6);
}

#[test]
fn a_stub_has_logits_and_no_weights() {
    let model = stub(1);
    let mut cache = model.new_cache(10).unwrap();
    let [mut one, two] = [&[0, 1][..], &[2, 3, 4]].map(Input::whole);
    one = one.with_logits(Logits::None);
    let after = Input::after(&mut cache, &[1, 2]).with_logits(Logits::All);
    let rows = model.forward(&mut [one, two, after]).unwrap();
    let [three, one, two] = [3, 1, 2].map(|length| counting(&[], length).unwrap());
    assert_eq!(rows, [three, one, two]);

    let error = model.hidden_states(&mut [Input::whole(&[0])]).unwrap_err();
    assert!(error.to_string().starts_with("the model is a stub, but must be one with weights"));
    assert!(model.weight_formats().is_empty() && model.attention(&[0]).unwrap().is_empty());
    assert_eq!(model.trace(&[0]).unwrap(), None);
    // The record of a run is that of a build without Burn.
    let RecordedModel { shape, logits, .. } = RecordedModel::of(&model);
    let recorded = RecordedModel { shape, logits, ..RecordedModel::default() };
    assert_eq!(RecordedModel::of(&model), recorded);
}
