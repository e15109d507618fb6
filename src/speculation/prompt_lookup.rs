//! Prompt lookup: what followed the last time.

use super::{Draft, Text};
use crate::error::Result;

/// Finds the end of the text earlier in the text, and proposes what followed there (Saxena,
/// *Prompt Lookup Decoding*, 2023). It needs no second model, and guesses well where a text repeats
/// itself or its prompt: lists, code, summaries with quotes.
#[derive(Debug, Clone, Copy)]
pub struct PromptLookup {
    /// The fewest tokens that must be equal.
    least: usize,
    /// As many equal tokens are enough, and the latest such place wins.
    enough: usize,
}

impl Default for PromptLookup {
    fn default() -> Self {
        Self { least: 2, enough: 8 }
    }
}

impl PromptLookup {
    /// The position after the earlier place whose tokens equal the most tokens at the end of the
    /// text. Of equally good places, the latest.
    fn find(&self, tokens: &[u32]) -> Option<usize> {
        let mut best = (self.least.max(1) - 1, None);
        for end in (1..tokens.len()).rev() {
            let earlier = tokens[..end].iter().rev();
            let equal = earlier.zip(tokens.iter().rev()).take(self.enough);
            let equal = equal.take_while(|(earlier, last)| earlier == last).count();
            if equal > best.0 {
                best = (equal, Some(end));
            }
            if equal == self.enough {
                break;
            }
        }
        best.1
    }
}

impl Draft for PromptLookup {
    // ANCHOR: propose
    fn propose(&mut self, text: &Text<'_>, most: usize) -> Result<Vec<u32>> {
        let Some(start) = self.find(text.tokens) else {
            return Ok(Vec::new());
        };
        let mut tokens = text.tokens.to_vec();
        for position in start..start + most {
            // Beyond the end of the text it copies its own copy: a list goes on and on.
            tokens.push(tokens[position]);
        }
        Ok(tokens.split_off(text.tokens.len()))
    }
    // ANCHOR_END: propose
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::{Sampler, SamplingParams};

    fn propose(tokens: &[u32], most: usize) -> Vec<u32> {
        let sampler = Sampler::new(&SamplingParams::default()).unwrap();
        let text = Text { tokens, prompt: 1, sampler: &sampler };
        PromptLookup::default().propose(&text, most).unwrap()
    }

    #[test]
    fn what_followed_the_longest_match_is_proposed_and_of_equal_ones_the_latest() {
        assert_eq!(propose(&[1, 2, 3, 4, 9, 1, 2], 2), [3, 4]);
        assert_eq!(propose(&[1, 2, 3, 8, 1, 2, 4, 8, 1, 2], 1), [4]);
        // Three equal tokens are better than two later ones.
        assert_eq!(propose(&[7, 1, 2, 3, 8, 1, 2, 4, 7, 1, 2], 1), [3]);
    }

    #[test]
    fn a_text_without_repetition_gets_no_proposal() {
        assert!(propose(&[1, 2, 3, 4], 4).is_empty());
        assert!(propose(&[5, 6, 5], 4).is_empty(), "one equal token is chance");
        assert!(propose(&[5], 4).is_empty());
    }

    #[test]
    fn beyond_its_end_the_text_goes_on_with_its_period() {
        assert_eq!(propose(&[4, 5, 4, 5], 5), [4, 5, 4, 5, 4]);
        assert_eq!(propose(&[6; 3], 4), [6; 4]);
        assert!(propose(&[6; 3], 0).is_empty());
    }
}
