//! Sampling the next token from the logits, on the host, with a generator per request.
//!
//! Each rule has its own file. A rule changes the scores, `[vocab]`, and removes a token by setting
//! its score to -inf. [`Sampler`] applies the rules in order:
//!
//! 1. the [constraint](crate::constrained)
//! 2. `logit_bias`
//! 3. `penalties`: repetition, then frequency and presence
//! 4. the caller's own rules
//! 5. `temperature`; 0 means `greedy`, which skips the rules below
//! 6. `top_k`, `top_p`, `min_p`, `typical`, each on the tokens that the rule before kept
//!
//! The bias comes before the penalties, as in transformers, vLLM and llama.cpp: it is a part of the
//! scores that the repetition penalty scales, so a token with a bias of -100 is not let in again by
//! a penalty below 1.
//!
//! A [`softmax`] turns the remaining scores into the distribution to draw from. [`logprob`] reports
//! the model's own probability of the sampled token, among those that the constraint allows, and [`statistics`] measures a distribution.

mod draw;
mod greedy;
mod logit_bias;
pub mod logprob;
mod min_p;
mod params;
mod penalties;
mod sampler;
mod softmax;
pub mod statistics;
mod temperature;
mod top_k;
mod top_p;
mod typical;

pub use logprob::{TokenLogprobs, logprobs};
pub use params::SamplingParams;
pub use sampler::{Rule, Sampler};
pub use softmax::softmax;
