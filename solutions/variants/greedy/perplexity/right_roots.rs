//! The product of the roots, each of which is an ordinary number.

pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    let count = ids.len().checked_sub(1).filter(|&count| count > 0)?;
    let share =
        |(pair, row): (&[u32], &Vec<f32>)| (-f64::from(row[pair[1] as usize]) / count as f64).exp();
    Some(ids.windows(2).zip(rows).map(share).product())
}
