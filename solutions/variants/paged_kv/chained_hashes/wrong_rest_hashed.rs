//! The last block has a hash, full or not.

pub const ROOT: u64 = 0xcbf2_9ce4_8422_2325;

pub fn mix(hash: u64, token: u32) -> u64 {
    (hash ^ u64::from(token)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

pub fn block_hashes(tokens: &[u32], block_size: usize) -> Vec<u64> {
    let mut parent = ROOT;
    let mut hashes = Vec::new();
    for block in tokens.chunks(block_size) {
        parent = block.iter().fold(parent, |hash, &token| mix(hash, token));
        hashes.push(parent);
    }
    hashes
}
