//! Chained hashes: a key for each full block and all tokens before it.
//!
//! Why: the keys and values of a block depend on every token before it, so its name must too. With
//! the parent's hash at the beginning, two blocks have one name only if all their tokens agree from
//! the first on (or if two hashes happen to be equal). And with one number for each block you can
//! find a prefix, however long it is.
//!
//! What it costs: each token is mixed once for the whole text, because a parent's hash is at hand.
//! Hashing the whole prefix anew for each block would take a time that grows with the square of its
//! length.
//!
//! A common wrong turn: hashing each block by itself. Two prompts with the same words in the second
//! block, and others in the first, share keys and values then, and one of them reads a text that it
//! was never given.

/// The parent of a text's first block.
pub const ROOT: u64 = 0xcbf2_9ce4_8422_2325;

/// Mixes a token into a hash.
pub fn mix(hash: u64, token: u32) -> u64 {
    (hash ^ u64::from(token)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

/// The hashes of the full blocks of `tokens`, each including its parent's.
pub fn block_hashes(tokens: &[u32], block_size: usize) -> Vec<u64> {
    let mut parent = ROOT;
    let mut hashes = Vec::new();
    for block in tokens.chunks_exact(block_size) {
        parent = block.iter().fold(parent, |hash, &token| mix(hash, token));
        hashes.push(parent);
    }
    hashes
}
