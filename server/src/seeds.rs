//! The seeds of several texts of one request.

use sha2::{Digest, Sha256};

/// The seed of the text at `index` of a request with `seed`. The first has the seed itself, so that
/// it is the text of a request for one. The others have a hash of both: if they counted up, the
/// second text of seed 1 would be the first one of seed 2.
pub(super) fn seed_of(seed: u64, index: u64) -> u64 {
    if index == 0 {
        return seed;
    }
    let hash: [u8; 32] = Sha256::new()
        .chain_update(seed.to_le_bytes())
        .chain_update(index.to_le_bytes())
        .finalize()
        .into();
    let [a, b, c, d, e, f, g, h, ..] = hash;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_texts_of_neighbouring_seeds_share_one() {
        let seeds: BTreeSet<u64> =
            (0..2000).flat_map(|seed| (0..64).map(move |index| seed_of(seed, index))).collect();
        assert_eq!(seeds.len(), 2000 * 64);
    }

    #[test]
    fn the_first_has_the_seed_itself_and_the_others_what_is_documented() {
        assert_eq!(seed_of(42, 0), 42);
        // Python: int.from_bytes(sha256(struct.pack("<QQ", 42, 1)).digest()[:8], "little")
        assert_eq!(seed_of(42, 1), 936818002525049801);
        assert_eq!(seed_of(u64::MAX, 63), 3990226247903555107);
    }
}
