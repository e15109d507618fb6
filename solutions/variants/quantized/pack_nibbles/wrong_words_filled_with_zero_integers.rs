//! The last word is filled up with integers of 0, whose nibbles are 8.

pub fn pack(integers: &[i8]) -> Vec<u32> {
    let nibble = |i: usize| (integers.get(i).copied().unwrap_or(0) + 8) as u32;
    (0..integers.len().div_ceil(8))
        .map(|word| (0..8).fold(0, |bits, i| bits | nibble(8 * word + i) << (4 * i)))
        .collect()
}

pub fn unpack(words: &[u32], count: usize) -> Vec<i8> {
    (0..count).map(|i| (words[i / 8] >> (4 * (i % 8)) & 15) as i8 - 8).collect()
}
