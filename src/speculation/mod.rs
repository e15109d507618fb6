//! Speculative decoding: somebody cheap guesses the next tokens, and the model checks them in one
//! pass (Leviathan et al., arXiv 2211.17192; Chen et al., arXiv 2302.01318).
//!
//! A [`Draft`] proposes draft tokens: [`PromptLookup`] copies from the text so far, [`DraftModel`]
//! asks a smaller model, [`ForcedTokens`] knows what a constraint leaves no choice about. The model
//! reads them after the last token, which costs little more than that token alone, and returns the
//! logits after each of them. From each row the sampler then draws as always. While what it draws equals
//! the draft token, the next row is valid: the draft token is accepted. The first token that differs is
//! the text's, and the rows after it are dropped. Where all are accepted, the last row gives one token
//! more, the bonus token.
//!
//! A token that is drawn is a token of the text, and each has one draw of the request's generator. So
//! on the CPU the text, its log-probabilities and the bits of its logits are those of plain decoding,
//! at every temperature and for every draft. On a GPU that holds with batch-invariant products. Without
//! them, and where Burn computes, logits agree to a tolerance, since the order of their sums depends on
//! the number of rows: where two tokens are nearly tied, the text may differ. Other engines sample by the
//! [`residual`] instead, which keeps the distribution, and not the text of a seed:
//! [`Acceptance::Residual`].
//!
//! [`DraftLength`] decides how many tokens to propose, [`gain`] how many are worth it.

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
