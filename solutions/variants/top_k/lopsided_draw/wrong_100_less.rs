//! A removed token's score is lowered by 100: a stretch of 1e-44 is left of it.

use slowburn::sampling::softmax;

pub fn lopsided_draw(logits: &[f32], k: usize, point: f64) -> usize {
    let mut scores = logits.to_vec();
    keep_best(&mut scores, k);
    walk(&softmax(&scores), point)
}

fn keep_best(scores: &mut [f32], k: usize) {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let least = sorted[k - 1];
    for score in scores {
        if *score < least {
            *score -= 100.0;
        }
    }
}

fn walk(probabilities: &[f32], point: f64) -> usize {
    let mut drawn = 0;
    let mut end = 0.0;
    for (id, &probability) in probabilities.iter().enumerate() {
        if probability == 0.0 {
            continue;
        }
        drawn = id;
        end += f64::from(probability);
        if point < end {
            break;
        }
    }
    drawn
}
