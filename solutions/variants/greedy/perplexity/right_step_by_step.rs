//! Position by position, from the second on.

pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    if ids.len() < 2 {
        return None;
    }
    let mut log_probability = 0.0;
    for position in 1..ids.len() {
        log_probability += f64::from(rows[position - 1][ids[position] as usize]);
    }
    Some((-log_probability / (ids.len() - 1) as f64).exp())
}
