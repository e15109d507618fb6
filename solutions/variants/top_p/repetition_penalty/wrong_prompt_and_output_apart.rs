//! A token of the prompt and of the output is penalised twice.

use std::collections::HashSet;

pub fn repetition_penalty(scores: &mut [f32], penalty: f32, prompt: &[u32], output: &[u32]) {
    let apart = [prompt, output].map(|ids| HashSet::<u32>::from_iter(ids.iter().copied()));
    for id in apart.into_iter().flatten() {
        let score = &mut scores[id as usize];
        if *score < 0.0 {
            *score *= penalty;
        } else {
            *score /= penalty;
        }
    }
}
