//! Looks at the output only: the prompt is forgotten.

use std::collections::HashSet;

pub fn repetition_penalty(scores: &mut [f32], penalty: f32, prompt: &[u32], output: &[u32]) {
    let said: HashSet<u32> = output.iter().copied().collect();
    for id in said {
        let score = &mut scores[id as usize];
        if *score < 0.0 {
            *score *= penalty;
        } else {
            *score /= penalty;
        }
    }
}
