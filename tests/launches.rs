//! What a GPU is asked to do: few launches, and to copy no more than is looked at. One test, since
//! launches are counted for the whole process.
#![cfg(feature = "cube")]

mod common;

use common::texts::greedy;
use common::{cubes, load};
use slowburn::device::{self, OpenDevice};
use slowburn::generate::{self, Options};
use slowburn::model::{Input, Model};

const PROMPT: [u32; 5] = [3, 11, 5, 7, 2];

/// The launches of a decode step of so many sequences, after the kernels are compiled.
fn launches_of_a_step(model: &Model, sequences: usize) -> u64 {
    let new = || model.new_cache(PROMPT.len() + 3).unwrap();
    let mut caches: Vec<_> = (0..sequences).map(|_| new()).collect();
    let mut step = |tokens: &[u32]| {
        let before = device::launches();
        let inputs = caches.iter_mut().map(|cache| Input::after(cache, tokens));
        model.forward(&mut inputs.collect::<Vec<_>>()).unwrap();
        device::launches() - before
    };
    step(&PROMPT);
    step(&PROMPT[..1]);
    step(&PROMPT[..1])
}

#[test]
fn a_step_is_few_launches_and_greedy_texts_are_the_same_without_their_logits() {
    for device in cubes() {
        // On the CPU, Burn's products take seconds to compile for each shape.
        let batch_invariant = device.name == "cube-cpu";
        let device = OpenDevice { batch_invariant, ..device };
        for name in ["llama-gqa", "qwen3"] {
            let model = load(name, &device).model;
            let layers = model.config().n_layers as u64;
            let (one, three) = (launches_of_a_step(&model, 1), launches_of_a_step(&model, 3));
            println!(
                "{name} on {device}: {one} launches for {layers} layers, {three} for three texts"
            );
            assert!(one > layers, "nothing was counted");
            // Two norms with the sums before them; queries, keys and values in one, their rotation,
            // append, attention and its output; gate and up in one, their product, and down. And
            // outside of the layers the embedding, the norm and the head.
            assert!(one <= 10 * layers + 3, "{name} on {device}: {one} launches");
            assert_eq!(three, one, "{name} on {device}: three texts take as many launches as one");

            recorded_steps_are_the_same(&model, &format!("{name} on {device}"));
            if name == "llama-gqa" {
                texts_are_the_same(&model, &format!("{name} on {device}"));
            }
        }
    }
}

/// Steps of one shape are recorded after a while, and replayed: as many kernels, with the bits of the text read at
/// once.
fn recorded_steps_are_the_same(model: &Model, what: &str) {
    let tokens: Vec<u32> = PROMPT.iter().cycle().take(PROMPT.len() + 8).copied().collect();
    let mut cache = model.new_cache(tokens.len()).unwrap();
    model.forward(&mut [Input::after(&mut cache, &PROMPT)]).unwrap();
    let mut launches = Vec::new();
    for at in PROMPT.len()..tokens.len() {
        let before = device::launches();
        let step = model.forward(&mut [Input::after(&mut cache, &tokens[at..=at])]).unwrap();
        launches.push(device::launches() - before);
        let whole = model.forward(&mut [Input::whole(&tokens[..=at])]).unwrap();
        assert_eq!(step, whole, "{what}: the step at {at}");
    }
    println!("{what}: the launches of its steps are {launches:?}");
    assert_eq!(launches.last(), launches.first(), "{what}: {launches:?}");
}

/// A batch of which nobody looks at the logits gets ids only.
fn texts_are_the_same(model: &Model, what: &str) {
    let options = greedy(5);
    let prompts = vec![PROMPT.to_vec(), PROMPT[..3].to_vec()];
    let batch = |options: [&Options; 2]| {
        let go_on = &mut |_, _| std::ops::ControlFlow::Continue(());
        generate::batched(model, &prompts, &options.map(Clone::clone), go_on).unwrap()
    };
    let blind = batch([&options, &options]);
    // One of the two looks at its logits, so both get them.
    let looks = Options { logprobs: Some(1), ..options.clone() };
    let seeing = batch([&looks, &options]);
    for (a, b) in blind.iter().zip(&seeing) {
        assert_eq!(a.ids, b.ids, "{what}");
    }
    assert!(blind[0].ids.len() == 5 && seeing[0].logprobs.len() == 5);
    for row in &seeing[0].logprobs {
        assert_eq!((row.id, row.logprob), row.top[0], "{what}: a greedy token is the most likely");
    }
}
