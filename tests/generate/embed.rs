//! Hidden states, and the vector that `embed` makes of them.

use safetensors::SafeTensors;
use slowburn::error::{Error, RequestError};
use slowburn::generate::{Embedder, Pooling, embed};
use slowburn::kv::KvPool;
use slowburn::model::{Input, Logits, Model};

use crate::common::{assert_close, bundled, device, devices, expected, fixture, load, rows};

/// Models whose head is stored in f32, with its file and the name of its matrix.
const HEADS: [(&str, &str, &str); 3] = [
    ("llama-gqa", "model.safetensors", "model.embed_tokens.weight"),
    ("gpt2", "model.safetensors", "transformer.wte.weight"),
    ("qwen3", "model-00005-of-00005.safetensors", "lm_head.weight"),
];

/// Between logits that are summed here and those of transformers.
const TOLERANCE: f32 = 1e-3;

/// A matrix of a fixture model, in rows.
fn matrix(model: &str, file: &str, name: &str) -> Vec<Vec<f32>> {
    let bytes = std::fs::read(fixture(&format!("models/{model}/{file}"))).unwrap();
    rows(&SafeTensors::deserialize(&bytes).unwrap(), name)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn hidden_states(model: &Model, ids: &[u32]) -> Vec<Vec<f32>> {
    model.hidden_states(&mut [Input::whole(ids).with_logits(Logits::All)]).unwrap()
}

#[test]
fn the_head_makes_the_logits_of_transformers_of_the_hidden_states() {
    for device in devices() {
        for (name, file, head) in HEADS {
            let (model, head) = (load(name, &device).model, matrix(name, file, head));
            let expected = expected(name);
            for (ids, reference) in expected.prompts.iter().zip(&expected.logits) {
                let rows = hidden_states(&model, ids);
                assert_eq!(rows.len(), ids.len());
                for (row, reference) in rows.iter().zip(reference) {
                    assert_eq!(row.len(), model.config().d_model);
                    let logits: Vec<f32> = head.iter().map(|of_token| dot(of_token, row)).collect();
                    assert_close(&logits, reference, TOLERANCE, name);
                }
            }
        }
    }
}

#[test]
fn an_input_gets_the_hidden_states_that_it_asks_for() {
    let model = bundled(&device()).model;
    let (one, other): (Vec<u32>, Vec<u32>) = ((2..30).collect(), (40..50).collect());
    let (of_one, of_other) = (hidden_states(&model, &one), hidden_states(&model, &other));
    let rows = model.hidden_states(&mut [
        Input::whole(&one).with_logits(Logits::None),
        Input::whole(&other).with_logits(Logits::All),
        Input::whole(&one),
    ]);
    let reference = [&of_other[..], &of_one[27..]].concat();
    let rows = rows.unwrap();
    assert_eq!(rows.len(), reference.len());
    for (row, reference) in rows.iter().zip(&reference) {
        assert_close(row, reference, 1e-4, "a row");
    }
}

#[test]
fn an_embedding_is_the_pooled_hidden_states_at_length_1() {
    for device in devices() {
        let model = bundled(&device).model;
        let ids: Vec<u32> = (0..300).map(|i| 2 + i * 7 % 900).collect();
        let rows = hidden_states(&model, &ids);
        let mut mean = vec![0.0; model.config().d_model];
        for row in &rows {
            mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value / ids.len() as f32);
        }
        for (pooling, pooled) in [(Pooling::Mean, &mean), (Pooling::Last, &rows[299])] {
            let length = dot(pooled, pooled).sqrt();
            let reference: Vec<f32> = pooled.iter().map(|value| value / length).collect();
            let embedding = embed(&model, &ids, pooling).unwrap();
            assert!((dot(&embedding, &embedding) - 1.0).abs() < 1e-5);
            assert_close(&embedding, &reference, 1e-4, &format!("{pooling:?} on {}", device.name));
        }
    }
}

#[cfg(feature = "flex")]
#[test]
fn on_the_cpu_the_pieces_of_a_text_make_no_difference() {
    let model = bundled(&device()).model;
    let ids: Vec<u32> = (0..200).map(|i| 2 + i * 11 % 900).collect();
    for pooling in [Pooling::Mean, Pooling::Last] {
        let whole = embed(&model, &ids, pooling).unwrap();
        for most in [0, 1, 33, 199, 200, usize::MAX] {
            let mut embedder = Embedder::new(&model, ids.clone(), pooling).unwrap();
            let mut pieces = 1;
            let found = loop {
                match embedder.read(&model, most).unwrap() {
                    Some(embedding) => break embedding,
                    None => pieces += 1,
                }
            };
            assert_eq!(pieces, ids.len().div_ceil(most.max(1)));
            assert_eq!(found, whole, "{pooling:?} in pieces of {most}");
        }
    }
    assert_eq!(model.kv_pool().bytes(), 0, "all blocks are given back");
}

#[test]
fn a_text_that_does_not_fit_is_refused_before_anything_is_computed() {
    let model = bundled(&device()).model;
    let context = model.config().context_length;
    let refused = |ids: &[u32]| embed(&model, ids, Pooling::Mean).unwrap_err();
    assert!(matches!(refused(&[]), Error::Request(RequestError::EmptyPrompt)));
    assert!(matches!(
        refused(&[5, 1 << 30]),
        Error::Request(RequestError::TokenOutOfRange { .. })
    ));
    assert!(matches!(
        refused(&vec![5; context + 1]),
        Error::Request(RequestError::PromptTooLong { .. })
    ));
    assert!(embed(&model, &vec![5; context], Pooling::Last).is_ok());

    let block: usize = KvPool::block_bytes(model.kv_pool());
    let model = model.with_kv_cache_bytes(2 * block);
    assert!(embed(&model, &[5; 64], Pooling::Mean).is_ok());
    let error = embed(&model, &[5; 65], Pooling::Mean).unwrap_err();
    assert!(
        matches!(error, Error::Request(RequestError::KvPoolTooSmall { tokens: 65, capacity: 64 })),
        "{error}"
    );
}
