//! The search ends where the number is off by 0.02.

use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;
pub fn temperature_for(logits: &[f32], tokens: f64) -> f32 {
    let (mut a, mut b) = (0.01_f32, 100.0_f32);
    loop {
        let m = (a * b).sqrt();
        let s: Vec<f32> = logits.iter().map(|l| l / m).collect();
        let e = effective_tokens(&softmax(&s));
        if (e - tokens).abs() < 0.02 {
            return m;
        }
        if e < tokens { a = m } else { b = m }
    }
}
