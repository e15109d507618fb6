//! A batch whose pass fails.

use super::*;
use crate::device::{self, DeviceChoice, Precision};
use crate::error::RequestError;
use crate::generate::{Chosen, cached};
use crate::pretrained::Pretrained;
use crate::sampling::SamplingParams;

/// The ids generated from `prompt` alone.
fn alone(model: &Model, prompt: &[u32], options: &Options) -> Vec<u32> {
    let mut go_on = |_: &Chosen<'_>| ControlFlow::Continue(());
    cached(model, prompt, options, &mut go_on).unwrap().ids
}

#[test]
fn after_a_pass_that_failed_every_token_is_read_once() {
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let model = Pretrained::bundled(&device, Precision::F32).unwrap().model;
    let sampling = SamplingParams { temperature: 0.0, ..SamplingParams::default() };
    let options = Options {
        max_tokens: 6,
        sampling,
        ignore_eos: true,
        ..Options::default()
    };
    let prompts: [&[u32]; 3] = [&[0, 5, 6], &[0, 7], &[0, 8, 9, 10]];
    // During prefill, and in later steps.
    for fails_at in [0, 1, 4] {
        let mut batch = Batch::new(&model);
        let ids = prompts.map(|prompt| batch.join(prompt, &options).unwrap());
        let mut ends = Vec::new();
        for step in 0.. {
            if step == fails_at {
                batch.engine.push(ids[1], u32::MAX); // outside any vocabulary
            }
            let is_end = |event: &(_, Event)| !matches!(event.1, Event::Token(_));
            ends.extend(batch.step().into_iter().filter(is_end));
            for id in batch.sequences.keys() {
                let read = prompts[id.0 as usize].len() + step;
                let length = batch.scheduler().table(*id).unwrap().length();
                assert_eq!(length, read, "{fails_at}, {step}");
            }
            if batch.is_empty() {
                break;
            }
        }
        let failed = ends.remove(0);
        assert_eq!(failed.0, ids[1]);
        assert!(matches!(
            failed.1,
            Event::Failed(Error::Request(RequestError::TokenOutOfRange { .. }))
        ));
        for ((id, event), index) in ends.into_iter().zip([0, 2]) {
            let Event::Finished(found) = event else {
                panic!("{event:?}");
            };
            assert_eq!((id, found.ids), (ids[index], alone(&model, prompts[index], &options)));
        }
    }
}
