//! The rows of a panel are left as they lie: `[lanes][n_in]`.

pub fn pack(weights: &[Vec<f32>], lanes: usize) -> Vec<Vec<Vec<f32>>> {
    let n_in = weights.first().map_or(0, Vec::len);
    let fill = |outputs: &[Vec<f32>]| {
        let mut panel = outputs.to_vec();
        panel.resize(lanes, vec![0.0; n_in]);
        panel
    };
    weights.chunks(lanes).map(fill).collect()
}
