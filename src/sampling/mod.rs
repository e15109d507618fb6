//! Choosing the next token from the logits, on the host, with a generator per request.
//!
//! One file a rule. A rule changes a list of scores, one for each token of the vocabulary, and
//! removes a token by setting its score to -inf. [`Sampler`] applies them in order:
//!
//! 1. `penalties`: repetition, then frequency and presence
//! 2. the caller's own rules
//! 3. `temperature`; at 0 it is `greedy`, and nothing follows
//! 4. `top_k`, `top_p`, `min_p`, `typical`, each on what the one before left
//!
//! What is left goes through a [`softmax`] and is drawn from. [`logprob`] reports how
//! likely the model itself found what was chosen, and [`statistics`] measures a distribution.

mod draw;
mod greedy;
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
