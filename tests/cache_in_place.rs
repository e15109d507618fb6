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

/// One decode step is done with a cache of 16 tokens, and with one of 16,384 that holds as few.
/// Both steps compute the same, so what the second allocates more is what it copies of its
/// cache. There are six tensors in it (keys and values of three layers): a twentieth of the
/// whole is less than one of them.
#[test]
fn a_decode_step_does_not_copy_the_cache() {
    const CAPACITY: usize = 16_384;
    let _alone = alone();
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let folder = copy_with_config(&fixture("models/llama-gqa"), |config| {
        config["max_position_embeddings"] = CAPACITY.into();
    });
    let model = Pretrained::load(folder.path(), &device, Precision::F32).unwrap().model;

    let step = |capacity| {
        let mut cache = model.new_cache(capacity).unwrap();
        model.forward(&mut [Input::after(&mut cache, &[5, 6, 7, 8])]).unwrap().remove(0);
        // Once more uncounted, for whatever is set up only once.
        model.forward(&mut [Input::after(&mut cache, &[9])]).unwrap().remove(0);
        let (_, asked) = asked_by(|| {
            drop(model.forward(&mut [Input::after(&mut cache, &[10])]).unwrap().remove(0))
        });
        (asked.sum, cache.bytes())
    };
    let (small, _) = step(16);
    let (large, cache) = step(CAPACITY);
    println!("a step allocates {small} and {large} bytes, the large cache is {cache} bytes");
    assert!(
        large.saturating_sub(small) < cache / 20,
        "a step allocates {small} bytes with a small cache and {large} with one of {cache} bytes"
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
