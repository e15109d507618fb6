//! Two nibbles in a byte, four bytes in a word.

pub fn pack(integers: &[i8]) -> Vec<u32> {
    let nibble = |i: usize| integers.get(i).map_or(0, |integer| (integer + 8) as u8);
    let byte = |i: usize| nibble(2 * i) | nibble(2 * i + 1) << 4;
    (0..integers.len().div_ceil(8))
        .map(|word| u32::from_le_bytes([0, 1, 2, 3].map(|i| byte(4 * word + i))))
        .collect()
}

pub fn unpack(words: &[u32], count: usize) -> Vec<i8> {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let mut integers: Vec<i8> =
        bytes.flat_map(|byte| [byte & 15, byte >> 4]).map(|nibble| nibble as i8 - 8).collect();
    integers.truncate(count);
    integers
}
