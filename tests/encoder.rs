//! A model assembled from Burn's own `TransformerEncoder` writes with the naive loop. The cached
//! loop has nothing to cache in it, and says so.

mod common;

use common::texts::greedy;
use common::{argmax, assert_close, devices, distance, go_on};
use slowburn::checkpoint::Weights;
use slowburn::generate::{self, FinishReason};
use slowburn::model::activation::Activation;
use slowburn::model::config::Family;
use slowburn::model::{Input, Logits, Model, ModelConfig};
use slowburn::{Error, RequestError};

const VOCAB: usize = 50;

/// A small encoder with random weights on each device.
fn models() -> Vec<Model> {
    let config = ModelConfig {
        family: Family::Encoder,
        vocab_size: VOCAB,
        d_model: 32,
        n_layers: 2,
        n_heads: 4,
        n_kv_heads: 4,
        head_dim: 8,
        d_ff: 64,
        context_length: 24,
        norm_eps: 1e-5,
        activation: Activation::Gelu,
        tied_head: false,
        bos_token_id: None,
        eos_token_ids: vec![],
    };
    let model = |device| Model::load(config.clone(), &Weights::random(device)).unwrap();
    devices().iter().map(|open| model(&open.device)).collect()
}

#[test]
fn the_naive_loop_writes_with_it() {
    for model in models() {
        let prompt = [3, 14, 15];
        let found = generate::naive(&model, &prompt, &greedy(10), &mut go_on).unwrap();
        assert_eq!(found.finish_reason, FinishReason::Length);
        let mut ids = prompt.to_vec();
        for &id in &found.ids {
            assert_eq!(id, argmax(&model.forward(&mut [Input::whole(&ids)]).unwrap().remove(0)));
            ids.push(id);
        }
        assert_eq!(ids.len(), prompt.len() + 10);

        // Like any other, it ends where its context ends.
        let endless = generate::naive(&model, &prompt, &greedy(1000), &mut go_on).unwrap();
        assert_eq!(endless.finish_reason, FinishReason::Context);
        assert_eq!(prompt.len() + endless.ids.len(), 24);
    }
}

#[test]
fn a_later_token_does_not_change_what_comes_before_it() {
    for model in models() {
        let ids = [3, 14, 15, 9, 26, 5];
        let reference = model.forward(&mut [Input::whole(&ids).with_logits(Logits::All)]).unwrap();
        assert!(reference.iter().all(|row| row.len() == VOCAB));
        for changed in 0..ids.len() {
            let mut other = ids;
            other[changed] = 49;
            let rows = model.forward(&mut [Input::whole(&other).with_logits(Logits::All)]).unwrap();
            for earlier in 0..changed {
                assert_close(&rows[earlier], &reference[earlier], 1e-6, "an earlier position");
            }
            // Without this the test could not fail: a model that hears nothing is causal too.
            for later in changed..ids.len() {
                assert!(distance(&rows[later], &reference[later]) > 1e-3, "{changed}, {later}");
            }
        }
    }
}

#[test]
fn the_position_of_a_token_matters() {
    for model in models() {
        let found = model.forward(&mut [Input::whole(&[3, 14, 15])]).unwrap().remove(0);
        let swapped = model.forward(&mut [Input::whole(&[14, 3, 15])]).unwrap().remove(0);
        assert!(distance(&found, &swapped) > 1e-3);
    }
}

#[test]
fn the_cached_loop_says_why_it_cannot() {
    for model in models() {
        let error = generate::cached(&model, &[3, 14], &greedy(4), &mut go_on).unwrap_err();
        assert!(matches!(error, Error::Request(RequestError::NoKvCache)), "{error:?}");
        assert!(error.to_string().contains("use the naive loop"), "{error}");
    }
}

/// No file describes such a model, so none may pass for one.
#[test]
fn it_does_not_load_from_a_checkpoint() {
    let model = models().remove(0);
    let bytes = [&2u64.to_le_bytes()[..], b"{}"].concat();
    let device = common::device().device;
    let weights = Weights::from_safetensors(&bytes, "empty", &device, model.dtype()).unwrap();
    let error = Model::load(model.config().clone(), &weights).unwrap_err();
    assert!(
        matches!(error, Error::Request(RequestError::Parameter { name: "family", .. })),
        "{error:?}"
    );
}
