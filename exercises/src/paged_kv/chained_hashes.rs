//! Chained hashes: a key for each full block and all tokens before it.

/// The parent of a text's first block.
pub const ROOT: u64 = 0xcbf2_9ce4_8422_2325;

/// Mixes a token into a hash.
pub fn mix(hash: u64, token: u32) -> u64 {
    (hash ^ u64::from(token)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

/// Two requests begin alike, and the second should reuse the blocks of the first. How do you
/// recognise a block? Its tokens alone are not enough, because the keys and values of a position
/// depend on all tokens up to it. A block may serve another text only if that text has the same
/// tokens in the block and in all blocks before it. So you chain the hashes: return one for each
/// full block of `tokens`, from the first on.
///
/// - The hash of a block starts from the hash of the block before, its parent, and takes the tokens
///   of the block in their order, each by `mix`. The first block starts from `ROOT`.
/// - A last block that is not full has no hash: it will still be written.
/// - `block_size` is at least 1.
///
/// ```text
/// block_hashes(&[7, 8, 9, 10, 11], 2)
///
/// tokens 7 8     first  = mix(mix(ROOT, 7), 8)
/// tokens 9 10    second = mix(mix(first, 9), 10)
/// token  11      no hash
///
/// -> first, second
/// ```
pub fn block_hashes(tokens: &[u32], block_size: usize) -> Vec<u64> {
    todo!()
}
