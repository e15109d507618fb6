//! Chained hashes: a key for each full block and all tokens before it.
//!
//! Why: the keys and values of a block depend on every token before it, so its name must too. With
//! the parent's hash at the beginning, two blocks have one name only where all their tokens agree
//! from the first on (or where two hashes happen to be equal). And one number for each block is
//! enough to find a prefix, however long it is.
//!
//! What it costs: each token is mixed once for the whole text, since a parent's hash is at hand. To
//! hash the whole prefix anew for each block would take a time that grows with the square of its
//! length.
//!
//! A common wrong turn: to hash each block by itself. Two prompts with the same words in the second
//! block, and others in the first, share keys and values then, and one of them reads what it was
//! never told.

/// What the first block of a text has for a parent.
pub const ROOT: u64 = 0xcbf2_9ce4_8422_2325;

/// Mixes a token into a hash.
pub fn mix(hash: u64, token: u32) -> u64 {
    (hash ^ u64::from(token)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

/// The hashes of the full blocks of `tokens`, each with that of its parent in it.
pub fn block_hashes(tokens: &[u32], block_size: usize) -> Vec<u64> {
    let mut parent = ROOT;
    let mut hashes = Vec::new();
    for block in tokens.chunks_exact(block_size) {
        parent = block.iter().fold(parent, |hash, &token| mix(hash, token));
        hashes.push(parent);
    }
    hashes
}
