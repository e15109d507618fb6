//! Eight 4-bit integers in a word of 32 bits.
//!
//! Why: you add 8, so a nibble is never negative, and no sign has to be spread over 32 bits when it
//! is read. A kernel that loads one word for each of 16 or 32 outputs reaches each integer with one
//! shift and one mask, and the shift is the same for all outputs.
//!
//! What it costs: 8 must be subtracted somewhere. A kernel does it once for a group, not for each
//! integer.
//!
//! A common wrong turn: `(integer as u32) << shift` without the 8 and without a mask. A negative
//! integer fills all higher bits with ones, and overwrites its neighbours.

const NIBBLES: usize = 8;

/// Packs integers from -8 to 7, eight in each word.
pub fn pack(integers: &[i8]) -> Vec<u32> {
    let word = |integers: &[i8]| {
        let nibbles = integers.iter().enumerate();
        nibbles.fold(0, |word, (i, integer)| word | ((integer + 8) as u32) << (4 * i))
    };
    integers.chunks(NIBBLES).map(word).collect()
}

/// The first `count` integers of `words`.
pub fn unpack(words: &[u32], count: usize) -> Vec<i8> {
    let integer = |i: usize| (words[i / NIBBLES] >> (4 * (i % NIBBLES)) & 15) as i8 - 8;
    (0..count).map(integer).collect()
}
