//! Subtracts the penalty: that is the presence penalty.

use std::collections::HashSet;

pub fn repetition_penalty(scores: &mut [f32], penalty: f32, prompt: &[u32], output: &[u32]) {
    let said: HashSet<u32> = prompt.iter().chain(output).copied().collect();
    for id in said {
        scores[id as usize] -= penalty;
    }
}
