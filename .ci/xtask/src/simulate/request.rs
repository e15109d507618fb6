//! A request, and the tokens that it consists of.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A request of the simulation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Request {
    /// When it arrives, in seconds.
    pub arrival: f64,
    /// The number of prompt tokens, the system prompt included; at least 1.
    pub prompt: usize,
    /// How many of them are the system prompt that others have too.
    pub shared: usize,
    /// Which of the system prompts that is, from 0.
    pub prefix: usize,
    /// The number of tokens to generate, at least 1.
    pub output: usize,
    /// The seed of all tokens of a run.
    pub seed: u64,
    /// Its number, from 0.
    pub index: usize,
}

impl Request {
    /// The ids of its prompt: the system prompt, then tokens that no other request has.
    pub fn prompt_ids(&self, vocab: usize) -> Vec<u32> {
        let own = self.index as u64 + 1;
        // The first has the number 0, the others come from the end.
        let prefix = (self.prefix as u64).wrapping_neg();
        let mut ids = Vec::with_capacity(self.prompt);
        for (stream, count) in [(prefix, self.shared), (own, self.prompt - self.shared)] {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(stream);
            ids.extend((0..count).map(|_| random.next_u32() % vocab as u32));
        }
        ids
    }

    /// The id of the `n`-th token of the output. The choice affects neither plan nor time.
    pub fn output_id(&self, n: usize, vocab: usize) -> u32 {
        ((self.index + 7919 * n) % vocab) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_system_prompt_is_shared() {
        let of_prefix = |index, shared, prefix| Request {
            prompt: 40,
            shared,
            prefix,
            output: 1,
            seed: 7,
            index,
            ..Request::default()
        };
        let request = |index, shared| of_prefix(index, shared, 0);
        let ids = |index, shared| request(index, shared).prompt_ids(1000);
        let [first, second] = [0, 1].map(|prefix| of_prefix(0, 16, prefix).prompt_ids(1000));
        assert!(first[..16] != second[..16] && first[16..] == second[16..]);
        assert_eq!(ids(0, 16).len(), 40);
        assert_eq!(ids(0, 16)[..16], ids(1, 16)[..16]);
        assert_ne!(ids(0, 16)[16..], ids(1, 16)[16..]);
        assert_ne!(ids(0, 0)[..16], ids(0, 16)[..16]);
        assert_eq!(ids(3, 0), ids(3, 0));
        assert!(ids(0, 16).iter().all(|&id| id < 1000));
    }
}
