//! A set of tokens.

/// The tokens that may come next: a bit for each id of the vocabulary, `[vocab]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenMask {
    words: Vec<u64>,
}

impl TokenMask {
    /// No token of a vocabulary of `vocab_size`.
    pub fn none(vocab_size: usize) -> Self {
        Self { words: vec![0; vocab_size.div_ceil(64)] }
    }

    /// The tokens whose bits are set, 32 in a word, as engines for grammars hand them over. Bits behind
    /// the vocabulary have no effect.
    pub fn from_words(words: &[u32], vocab_size: usize) -> Self {
        let mut words: Vec<u64> = words
            .chunks(2)
            .map(|pair| u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32)
            .collect();
        words.resize(vocab_size.div_ceil(64), 0);
        if let (Some(last), 1..) = (words.last_mut(), vocab_size % 64) {
            *last &= (1 << (vocab_size % 64)) - 1;
        }
        Self { words }
    }

    /// The memory of a mask for a vocabulary of `vocab_size`, in bytes.
    pub(super) fn bytes_of(vocab_size: usize) -> usize {
        size_of::<Self>() + vocab_size.div_ceil(64) * size_of::<u64>()
    }

    /// Its memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        Self::bytes_of(self.words.len() * 64)
    }

    /// Adds a token. An id outside the vocabulary has no effect.
    pub fn insert(&mut self, id: u32) {
        if let Some(word) = self.words.get_mut(id as usize / 64) {
            *word |= 1 << (id % 64);
        }
    }

    /// Takes a token away. An id outside the vocabulary has no effect.
    pub fn remove(&mut self, id: u32) {
        if let Some(word) = self.words.get_mut(id as usize / 64) {
            *word &= !(1 << (id % 64));
        }
    }

    /// Whether this token may come next.
    pub fn contains(&self, id: u32) -> bool {
        self.words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no token may come next.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The tokens, in the order of their ids.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.words.iter().zip((0..).step_by(64)).flat_map(|(&word, first)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first + bit)
        })
    }

    /// The token, if it is the only one.
    pub fn only(&self) -> Option<u32> {
        let mut words = self.words.iter().zip((0..).step_by(64)).filter(|&(&word, _)| word != 0);
        let (word, first) = words.next()?;
        (word.is_power_of_two() && words.next().is_none()).then(|| first + word.trailing_zeros())
    }

    /// Removes all other tokens from the scores, `[vocab]`.
    pub fn apply(&self, scores: &mut [f32]) {
        for (scores, &word) in scores.chunks_mut(64).zip(&self.words) {
            match word {
                u64::MAX => continue,
                0 => {
                    scores.fill(f32::NEG_INFINITY);
                    continue;
                }
                _ => {}
            }
            for (bit, score) in scores.iter_mut().enumerate() {
                if word >> bit & 1 == 0 {
                    *score = f32::NEG_INFINITY;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_holds_what_was_inserted_also_at_the_borders_of_its_words() {
        let mut mask = TokenMask::none(130);
        assert!(mask.is_empty() && mask.only().is_none());
        mask.insert(64);
        assert_eq!(mask.only(), Some(64));
        for id in [0, 63, 127, 128, 129] {
            mask.insert(id);
        }
        assert_eq!(mask.ids().collect::<Vec<_>>(), [0, 63, 64, 127, 128, 129]);
        assert_eq!((mask.len(), mask.only()), (6, None));
        let mut without = mask.clone();
        without.remove(64);
        without.remove(1000);
        assert_eq!(without.ids().collect::<Vec<_>>(), [0, 63, 127, 128, 129]);
        assert!(mask.contains(129) && !mask.contains(1) && !mask.contains(1000));
        let mut scores = vec![1.0; 130];
        mask.apply(&mut scores);
        let kept = (0..).zip(&scores).filter(|(_, score)| score.is_finite()).map(|(id, _)| id);
        assert_eq!(kept.collect::<Vec<u32>>(), mask.ids().collect::<Vec<_>>());
    }

    #[test]
    fn words_of_32_bits_are_the_same_set_without_what_is_behind_the_vocabulary() {
        let words = [1 << 31, 1, 1 << 5 | 1 << 6];
        for (vocab_size, expected) in [
            (32, &[31][..]),
            (69, &[31, 32]),
            (70, &[31, 32, 69]),
            (200, &[31, 32, 69, 70]),
        ] {
            let mask = TokenMask::from_words(&words, vocab_size);
            assert_eq!(mask.ids().collect::<Vec<_>>(), expected, "{vocab_size}");
            let mut inserted = TokenMask::none(vocab_size);
            expected.iter().for_each(|&id| inserted.insert(id));
            assert_eq!(mask, inserted);
        }
    }
}
