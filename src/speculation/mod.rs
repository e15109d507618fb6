//! Speculative decoding: something cheap guesses the next tokens, and the model checks them all in one
//! pass (Leviathan et al., arXiv 2211.17192; Chen et al., arXiv 2302.01318).
//!
//! A [`Draft`] proposes draft tokens: [`PromptLookup`] copies from the text so far, [`DraftModel`] asks a
//! smaller model, and [`ForcedTokens`] knows where a constraint leaves no choice. The model reads them after
//! the last token, which costs little more than reading that token alone, and returns the logits after each.
//! Then the sampler draws from one row after the other, as always. As long as it draws the draft token,
//! that token is accepted, and the next row is valid. The first token that differs goes into the text,
//! and the rows after it are dropped. If all were accepted, the last row gives one more, the bonus token.
//!
//! So every token of the text was drawn as in plain decoding, with one draw of the request's generator. On the
//! CPU the text, its log-probabilities and its logits are therefore bit-identical to plain decoding's, at
//! every temperature and with every draft. On a GPU that takes batch-invariant products. Without them,
//! and where Burn computes, logits agree only to a tolerance, since the order of their sums depends on the
//! number of rows, and the text may differ where two tokens are nearly tied. Other engines sample by the
//! [`residual`] instead ([`Acceptance::Residual`]): that keeps the distribution, but not a seed's text.
//!
//! [`DraftLength`] decides how many tokens to propose, and [`gain`] how many are worth it.

mod cost;
mod draft;
mod draft_model;
mod forced;
pub mod gain;
mod length;
mod prompt_lookup;
pub mod residual;
mod settings;
mod speculate;

pub use cost::PassCosts;
pub use draft::{Draft, Text};
pub use draft_model::{DraftModel, Draws};
pub use forced::ForcedTokens;
pub use length::DraftLength;
pub use prompt_lookup::PromptLookup;
pub use settings::{DraftSource, Speculation};
pub use speculate::{Acceptance, Speculator};
