//! The lowest 4 bits of the integer, without the 8.

pub fn pack(integers: &[i8]) -> Vec<u32> {
    let word = |integers: &[i8]| {
        let nibbles = integers.iter().enumerate();
        nibbles.fold(0, |word, (i, integer)| word | (*integer as u32 & 15) << (4 * i))
    };
    integers.chunks(8).map(word).collect()
}

pub fn unpack(words: &[u32], count: usize) -> Vec<i8> {
    let nibble = |i: usize| (words[i / 8] >> (4 * (i % 8)) & 15) as i8;
    (0..count).map(|i| nibble(i) << 4 >> 4).collect()
}
