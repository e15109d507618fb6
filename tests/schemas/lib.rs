//! Texts under a schema: which tokens a random walk takes, and whether a text is allowed.

use std::sync::Arc;

use slowburn::Result;
use slowburn::constrained::{Constraint, Vocabulary};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::pretrained::Pretrained;

/// The bundled model, for its vocabulary.
///
/// # Errors
/// None that is expected.
pub fn bundled() -> Result<Arc<Pretrained>> {
    let device = device::open(DeviceChoice::Cpu)?;
    Pretrained::bundled(&device, Precision::F32).map(Arc::new)
}

/// Numbers from a seed (SplitMix64).
pub struct Numbers(pub u64);

impl Numbers {
    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

/// A text of tokens that are drawn from those that are allowed, every second time from those that end
/// something, where there are any. None if it does not end within `most` tokens.
///
/// # Errors
/// Those of the constraint.
///
/// # Panics
/// At a text that no token continues, and that may not end.
pub fn walk(constraint: &Constraint, seed: u64, most: usize) -> Result<Option<String>> {
    let (vocabulary, follower) = (constraint.vocabulary(), constraint.follow());
    let mut numbers = Numbers(seed);
    let mut output: Vec<u32> = Vec::new();
    for _ in 0..=most {
        let next = follower.next(&output)?;
        let may_end = vocabulary.end_ids().iter().any(|&id| next.mask().contains(id));
        if next.is_complete() || may_end && numbers.below(2) == 0 {
            return Ok(Some(text(vocabulary, &output)));
        }
        let of_text: Vec<u32> =
            next.mask().ids().filter(|id| !vocabulary.end_ids().contains(id)).collect();
        let ends = |id: &u32| matches!(vocabulary.bytes(*id), b"\"" | b"}" | b"]" | b"," | b"\":");
        let ending: Vec<u32> = of_text.iter().copied().filter(ends).collect();
        let from = if !ending.is_empty() && numbers.below(2) == 0 {
            &ending
        } else {
            &of_text
        };
        assert!(!from.is_empty(), "a dead end: {}", text(vocabulary, &output));
        output.push(from[numbers.below(from.len())]);
    }
    Ok(None)
}

fn text(vocabulary: &Vocabulary, output: &[u32]) -> String {
    let bytes: Vec<u8> = output.iter().flat_map(|&id| vocabulary.bytes(id)).copied().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether a text of these tokens is allowed, and may end.
///
/// # Errors
/// Those of the constraint but one: a token that is not allowed.
pub fn allows(constraint: &Constraint, tokens: &[u32]) -> Result<bool> {
    let (vocabulary, follower) = (constraint.vocabulary(), constraint.follow());
    for (at, token) in tokens.iter().enumerate() {
        if !follower.next(&tokens[..at])?.mask().contains(*token) {
            return Ok(false);
        }
    }
    let next = follower.next(tokens)?;
    Ok(next.is_complete() || vocabulary.end_ids().iter().any(|&id| next.mask().contains(id)))
}
