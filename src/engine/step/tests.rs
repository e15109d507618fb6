//! Engines that cannot go on.

use std::cell::Cell;

use super::*;
use crate::device::{self, DeviceChoice, Precision};
use crate::error::ServiceError;
use crate::model::Input;
use crate::pretrained::Pretrained;

thread_local! {
    /// The token at which a device is lost.
    static POISON: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Panics if one of the chunks has the token at which a device is lost.
pub(super) fn use_device(chunks: &[ChunkInput]) {
    let poison = POISON.get();
    let is_poisoned = chunks.iter().any(|chunk| chunk.tokens.iter().any(|id| Some(*id) == poison));
    assert!(!is_poisoned, "the device is lost");
}

/// The most likely token.
fn greedy(logits: &[f32]) -> u32 {
    let best = logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    best.map_or(0, |(id, _)| id as u32)
}

#[test]
fn a_sequence_fails_when_others_never_give_the_memory_back() {
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let model = Pretrained::bundled(&device, Precision::F32).unwrap().model;
    let bytes = 3 * model.kv_pool().block_bytes();
    let model = model.with_kv_cache_bytes(bytes);
    let mut cache = model.new_cache(128).unwrap();
    model.forward(&mut [Input::after(&mut cache, &[5; 40])]).unwrap();
    let mut engine = Engine::new(&model, EngineConfig::default());
    engine.most_pauses = 3;
    let id = engine.arrive(&[5; 40], 10, 64, false).unwrap();
    for _ in 0..3 {
        assert!(engine.step().1.is_empty());
    }
    // A cache that is in use gives hope.
    model.forward(&mut [Input::after(&mut cache, &[5; 30])]).unwrap();
    for _ in 0..3 {
        assert!(engine.step().1.is_empty());
    }
    let outcomes = engine.step().1;
    let [(failed, Outcome::Failed(Error::Service(ServiceError::KvPoolFull { .. })))] =
        &outcomes[..]
    else {
        panic!("{outcomes:?}");
    };
    assert_eq!(*failed, id);
    assert!(engine.scheduler().is_empty());
}

/// The texts of these prompts, and who failed.
fn texts(engine: &mut Engine<'_>, prompts: &[&[u32]]) -> (Vec<Vec<u32>>, Vec<SequenceId>) {
    let arrive = |prompt: &&[u32]| engine.arrive(prompt, 10, 4, false).unwrap();
    let ids: Vec<_> = prompts.iter().map(arrive).collect();
    let (mut texts, mut failed) = (vec![Vec::new(); ids.len()], Vec::new());
    while !engine.scheduler().is_empty() {
        for (id, outcome) in engine.step().1 {
            let index = ids.iter().position(|other| *other == id).unwrap();
            match outcome {
                Outcome::Logits(logits) => {
                    texts[index].push(greedy(&logits));
                    engine.push(id, greedy(&logits));
                }
                Outcome::PromptLogits { .. } | Outcome::Checked { .. } | Outcome::MostLikely(_) => {
                    panic!("nobody has asked")
                }
                Outcome::Failed(error) => {
                    assert!(error.to_string().contains("the device is lost"), "{error}");
                    failed.push(id);
                }
            }
            if texts[index].len() == 10 {
                engine.leave(id);
            }
        }
    }
    (texts, failed)
}

#[test]
fn what_a_lost_device_held_is_computed_again_and_only_the_one_at_fault_fails() {
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let model = Pretrained::bundled(&device, Precision::F32).unwrap().model;
    let prompts: [&[u32]; 3] = [
        &[0, 5, 6, 7, 8, 9, 10, 11],
        &[0, 7, 7, 7, 7, 7, 300],
        &[0, 8, 9, 10],
    ];
    let mut engine = Engine::new(&model, EngineConfig::default());
    let (undisturbed, failed) = texts(&mut engine, &prompts);
    assert!(failed.is_empty());

    // The device panics when the second sequence reads the end of its prompt.
    assert!(!undisturbed.concat().contains(&300));
    let mut engine = Engine::new(&model, EngineConfig::default());
    POISON.set(Some(300));
    let (found, failed) = texts(&mut engine, &prompts);
    assert_eq!(failed, [SequenceId(1)]);
    assert_eq!((&found[0], &found[2]), (&undisturbed[0], &undisturbed[2]));
    assert!(found[1].is_empty());
    assert!(engine.suspects.is_empty());
}

#[test]
fn a_suspect_that_leaves_is_forgotten() {
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let model = Pretrained::bundled(&device, Precision::F32).unwrap().model;
    let mut engine = Engine::new(&model, EngineConfig::default());
    POISON.set(Some(300));
    let stays = engine.arrive(&[0, 5, 6], 10, 64, false).unwrap();
    let leaves = engine.arrive(&[0, 7, 300], 10, 64, false).unwrap();
    assert!(engine.step().1.is_empty());
    assert_eq!(engine.suspects.len(), 2);
    engine.leave(leaves);
    assert_eq!(engine.suspects.into_keys().collect::<Vec<_>>(), [stays]);
}
