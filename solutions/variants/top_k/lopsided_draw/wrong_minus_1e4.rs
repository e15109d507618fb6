//! A removed token has the score -10,000, which others may have too.

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
            *score = -1e4;
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
