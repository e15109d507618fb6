//! One walk over all tokens, which looks up at the end of each block.

pub const ROOT: u64 = 0xcbf2_9ce4_8422_2325;

pub fn mix(hash: u64, token: u32) -> u64 {
    (hash ^ u64::from(token)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

pub fn block_hashes(tokens: &[u32], block_size: usize) -> Vec<u64> {
    let mut hash = ROOT;
    let mut hashes = Vec::new();
    for (position, &token) in tokens.iter().enumerate() {
        hash = mix(hash, token);
        if position % block_size == block_size - 1 {
            hashes.push(hash);
        }
    }
    hashes
}
