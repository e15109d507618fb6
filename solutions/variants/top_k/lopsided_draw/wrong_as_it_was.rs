//! As the stub has it: the line ends at 0.731.

use slowburn::sampling::softmax;

pub fn lopsided_draw(logits: &[f32], k: usize, point: f64) -> usize {
    let mut probabilities = softmax(logits);
    keep_best(&mut probabilities, k);
    walk(&probabilities, point)
}

/// Sets all but the `k` greatest numbers to 0.
fn keep_best(numbers: &mut [f32], k: usize) {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let least = sorted[k - 1];
    for number in numbers {
        if *number < least {
            *number = 0.0;
        }
    }
}

/// The token on whose stretch of the line the point lies, or the last that has a stretch.
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
