//! From logits to a token.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::broken::fail;
use crate::model::of_length;
use crate::parts::Parts;

/// The rules of one text, and its generator.
#[derive(Clone)]
pub struct Sampler {
    temperature: f32,
    top_p: f32,
    generator: ChaCha12Rng,
    /// The probability of each token that was drawn, after all rules.
    pub probabilities: Vec<f32>,
    /// How far the nearest draw was from another token, in probability.
    pub margin: f64,
}

impl Sampler {
    pub fn new(temperature: f32, top_p: f32, seed: u64) -> Self {
        Self {
            temperature,
            top_p,
            generator: ChaCha12Rng::seed_from_u64(seed),
            probabilities: Vec::new(),
            margin: f64::INFINITY,
        }
    }

    // ANCHOR: sample
    /// Draws a token. The points come from the generator of the crate.
    pub fn sample(&mut self, parts: &Parts, logits: &[f32]) -> u32 {
        let Self { temperature, top_p, .. } = *self;
        let vocab = logits.len();
        let probabilities =
            parts.ask("at_temperature", |parts| (parts.at_temperature)(logits, temperature));
        let probabilities = match probabilities {
            Ok(probabilities) => of_length("at_temperature", probabilities, vocab),
            Err(refused) => fail("at_temperature", format!("refused {temperature}: {refused}")),
        };
        let left = parts.ask("nucleus", |parts| (parts.nucleus)(&probabilities, top_p));
        let left = of_length("nucleus", left, vocab);
        if !left.iter().any(|&probability| probability > 0.0) {
            fail("nucleus", "leaves no token");
        }
        let point = (self.generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let token = parts.ask_exactly("draw", "its result", |parts| (parts.draw)(&left, point));
        if token >= vocab {
            fail("draw", format!("drew token {token} of {vocab}"));
        }
        self.probabilities.push(left[token]);
        self.margin = self.margin.min(distance(&left, point));
        token as u32
    }
    // ANCHOR_END: sample
}

/// How far a point is from the nearest place where another token would be drawn.
fn distance(probabilities: &[f32], point: f64) -> f64 {
    let total: f64 = probabilities.iter().copied().map(f64::from).sum();
    let ends = probabilities.iter().scan(0.0, |sum, &probability| {
        *sum += f64::from(probability) / total;
        Some(*sum)
    });
    // The end of the line is no such place.
    let between = ends.filter(|end| *end < 1.0 - 1e-9);
    between.map(|end| (end - point).abs()).fold(f64::INFINITY, f64::min)
}
