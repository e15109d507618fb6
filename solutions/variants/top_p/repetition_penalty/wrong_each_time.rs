//! Penalises at each occurrence.

pub fn repetition_penalty(scores: &mut [f32], penalty: f32, prompt: &[u32], output: &[u32]) {
    for &id in prompt.iter().chain(output) {
        let score = &mut scores[id as usize];
        if *score < 0.0 {
            *score *= penalty;
        } else {
            *score /= penalty;
        }
    }
}
