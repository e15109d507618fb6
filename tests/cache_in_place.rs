//! Appending to the KV cache writes into memory that is there and copies nothing.
//!
//! Time would be a poor witness of that. Memory is a good one: a copy has to be allocated, so
//! this binary counts every byte that it asks for.

#![cfg(feature = "flex")]

mod common;

use burn::tensor::{Device, Tensor, s};
use common::counting::{Counting, alone, asked_by};
use common::{copy_with_config, fixture};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::model::Input;
use slowburn::pretrained::Pretrained;

#[global_allocator]
static COUNTING: Counting = Counting;

/// One decode step is done after few tokens, and one after thousands. If a step copied its keys and
/// values, the second would allocate as much as its cache holds, or a sixth of that where it copied
/// one of the six parts (keys and values of three layers): a twentieth of the whole is less.
#[test]
fn a_decode_step_does_not_copy_the_cache() {
    const MANY: usize = 4096;
    let _alone = alone();
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let folder = copy_with_config(&fixture("models/llama-gqa"), |config| {
        config["max_position_embeddings"] = (2 * MANY).into();
    });
    let model = Pretrained::load(folder.path(), &device, Precision::F32).unwrap().model;

    let step = |tokens: usize| {
        let mut cache = model.new_cache(tokens + 2).unwrap();
        let ids: Vec<u32> = (0..tokens).map(|i| 5 + i as u32 % 40).collect();
        for chunk in ids.chunks(256) {
            model.forward(&mut [Input::after(&mut cache, chunk)]).unwrap();
        }
        // Once more uncounted, for whatever is set up only once.
        model.forward(&mut [Input::after(&mut cache, &[9])]).unwrap().remove(0);
        let (_, asked) = asked_by(|| {
            drop(model.forward(&mut [Input::after(&mut cache, &[10])]).unwrap().remove(0))
        });
        (asked.sum, cache.bytes())
    };
    let (small, few) = step(16);
    let (large, many) = step(MANY);
    println!("a step allocates {small} bytes of {few}, and {large} of {many}");
    assert!(many > 50 * few, "the caches have {few} and {many} bytes");
    assert!(
        large.saturating_sub(small) < many / 20,
        "a step allocates {small} bytes after few tokens and {large} with {many} bytes of cache"
    );
}

/// What `LayerCache::append` does, on a bare tensor: this shows that the count sees a copy when
/// there is one. The test above could fail.
#[test]
fn a_write_copies_only_while_a_view_is_alive() {
    let _alone = alone();
    let device = Device::flex();
    let shape = [1, 2, 16_384, 64];
    let size = shape.iter().product::<usize>() * 4;
    let mut all = Tensor::<4>::zeros(shape, &device);
    let new = Tensor::<4>::ones([1, 2, 1, 64], &device);
    let mut write = |at: usize, keep_view: bool| {
        let view = keep_view.then(|| all.clone().slice(s![.., .., ..at, ..]));
        let new = new.clone();
        let (_, asked) = asked_by(|| {
            all.inplace(|all| all.slice_assign(s![.., .., at..at + 1, ..], new));
        });
        drop(view);
        asked.sum
    };
    write(1, false);
    let alone = write(2, false);
    let shared = write(3, true);
    let alone_again = write(4, false);
    println!("alone {alone}, shared {shared}, alone again {alone_again}, of {size} bytes");
    assert!(alone < size / 100, "{alone} bytes for a write to a tensor of {size}");
    assert!(alone_again < size / 100, "{alone_again} bytes after the view was dropped");
    assert!(shared >= size, "{shared} bytes: a shared tensor of {size} was not copied");
}
