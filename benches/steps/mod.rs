//! Decode steps, timed.

use std::time::{Duration, Instant};

use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::model::{Input, Model};
use slowburn::pretrained::Pretrained;

/// How many decode steps are timed before the cache is filled anew. A step at 128 cached tokens
/// is thus a step at 128 to 159: what lies between costs less than the clock can tell.
const STEPS: u64 = 32;

pub fn bundled() -> Model {
    let device = device::open(DeviceChoice::Auto).unwrap();
    Pretrained::bundled(&device, Precision::F32).unwrap().model
}

/// `n` ids that are all in the vocabulary.
pub fn ids(n: u32) -> Vec<u32> {
    (0..n).map(|i| 2 + i * 31 % 1000).collect()
}

/// The time of `steps` decode steps that each find at least the prompt in the cache.
pub fn time_steps(model: &Model, prompt: &[u32], mut steps: u64) -> Duration {
    let mut total = Duration::ZERO;
    while steps > 0 {
        let mut cache = model.new_cache(prompt.len() + STEPS as usize).unwrap();
        model.forward(&mut [Input::after(&mut cache, prompt)]).unwrap();
        let now = steps.min(STEPS);
        let start = Instant::now();
        for _ in 0..now {
            model.forward(&mut [Input::after(&mut cache, &[7])]).unwrap();
        }
        total += start.elapsed();
        steps -= now;
    }
    total
}
