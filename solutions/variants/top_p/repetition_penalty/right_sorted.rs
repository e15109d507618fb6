//! With a sorted list without duplicates.

pub fn repetition_penalty(scores: &mut [f32], penalty: f32, prompt: &[u32], output: &[u32]) {
    let mut said = [prompt, output].concat();
    said.sort_unstable();
    said.dedup();
    for id in said {
        let score = scores[id as usize];
        scores[id as usize] = if score < 0.0 {
            score * penalty
        } else {
            score / penalty
        };
    }
}
