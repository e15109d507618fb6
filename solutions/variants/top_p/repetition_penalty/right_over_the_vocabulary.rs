//! Goes through the vocabulary, and asks for each token whether it was said.

pub fn repetition_penalty(scores: &mut [f32], penalty: f32, prompt: &[u32], output: &[u32]) {
    for (id, score) in (0u32..).zip(scores.iter_mut()) {
        if !prompt.contains(&id) && !output.contains(&id) {
            continue;
        }
        *score *= if *score > 0.0 {
            penalty.recip()
        } else {
            penalty
        };
    }
}
