//! With a list of survivors and their probabilities, best first, instead of -inf.

#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    pub repetition_penalty: f32,
    pub temperature: f32,
    pub top_k: Option<usize>,
    pub top_p: Option<f32>,
    pub min_p: Option<f32>,
}

pub fn sampler_order(logits: &[f32], said: &[u32], rules: &Rules) -> Vec<f32> {
    let penalty = rules.repetition_penalty;
    let mut left: Vec<(usize, f32)> = logits
        .iter()
        .enumerate()
        .map(|(id, &logit)| match said.contains(&(id as u32)) {
            true if logit < 0.0 => (id, logit * penalty),
            true => (id, logit / penalty),
            false => (id, logit),
        })
        .collect();
    left.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap());
    if rules.temperature == 0.0 {
        left.truncate(1);
    } else {
        let best = left[0].1;
        for (_, number) in &mut left {
            *number = ((*number - best) / rules.temperature).exp();
        }
        if let Some(k) = rules.top_k.filter(|&k| k < left.len()) {
            let least = left[k - 1].1;
            left.retain(|(_, weight)| *weight >= least);
        }
        if let Some(p) = rules.top_p.filter(|&p| p < 1.0) {
            let sum: f32 = left.iter().map(|(_, weight)| weight).sum();
            let mut mass = 0.0;
            left.retain(|(_, weight)| {
                let short = mass < p * sum;
                mass += weight;
                short
            });
        }
        if let Some(share) = rules.min_p {
            left.retain(|(_, weight)| *weight >= share);
        }
    }
    if rules.temperature == 0.0 {
        left[0].1 = 1.0;
    }
    let sum: f32 = left.iter().map(|(_, weight)| weight).sum();
    let mut probabilities = vec![0.0; logits.len()];
    for (id, weight) in left {
        probabilities[id] = weight / sum;
    }
    probabilities
}
