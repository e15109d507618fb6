//! Scores of prompts, of a model whose logits are always usable.

use crate::error::Result;
use crate::sampling::{TokenLogprobs, logprobs};

pub(super) const CHUNK: usize = 64;

pub(super) fn score_rows(
    rows: &[Vec<f32>],
    targets: &[u32],
    top: usize,
    tokens: &mut Vec<TokenLogprobs>,
) -> Result<()> {
    let scored = rows.iter().zip(targets).map(|(row, &target)| logprobs(row, target, top));
    tokens.extend(scored);
    Ok(())
}
