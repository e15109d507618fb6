//! Eight 4-bit integers in a word of 32 bits.

/// No type has 4 bits, so 4-bit weights have to share a word. Pack integers from -8 to 7, eight in
/// each word.
///
/// - Each is stored as a **nibble**, 4 bits: the integer plus 8, which is 0 to 15.
/// - The first integer takes the lowest 4 bits of the first word, the second one the next 4 bits,
///   the eighth one the highest. The ninth begins the second word.
/// - Nibbles of the last word that have no integer are 0.
///
/// ```text
/// pack(&[-8, 7, 0]) -> [0x8f0]
/// ```
pub fn pack(integers: &[i8]) -> Vec<u32> {
    todo!()
}

/// And back: the first `count` integers of `words`, which hold at least that many.
///
/// ```text
/// unpack(&[0x8f0], 3) -> [-8, 7, 0]
/// ```
pub fn unpack(words: &[u32], count: usize) -> Vec<i8> {
    todo!()
}
