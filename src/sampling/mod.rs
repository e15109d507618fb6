//! From logits to the next token, on the host, with a random number generator per request: the same seed
//! gives the same text on every device where the logits are the same, whatever else is in the batch.
//!
//! Each rule has its own file. A rule changes the scores, `[vocab]`, and removes a token by setting
//! its score to -inf. [`Sampler`] applies the rules in this order:
//!
//! 1. the [constraint](crate::constrained)
//! 2. `logit_bias`
//! 3. `penalties`: repetition, then frequency and presence
//! 4. the caller's own rules
//! 5. `temperature`; 0 means `greedy`, which skips the rules below
//! 6. `top_k`, `top_p`, `min_p`, `typical`, each on the tokens that the rule before kept
//!
//! The bias comes before the penalties, as in transformers, vLLM and llama.cpp, because it is part of the
//! scores that the repetition penalty scales. So a penalty below 1 doesn't let a token with a bias of -100 in
//! again.
//!
//! A [`softmax`] turns the remaining scores into the distribution to draw from. [`logprob`] reports
//! the model's own probability of the sampled token, among the tokens that the constraint allows, and
//! [`statistics`] measures a distribution.

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
pub use sampler::{Rule, Rules, Sampler};
pub use softmax::softmax;
