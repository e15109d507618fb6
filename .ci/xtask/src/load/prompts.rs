//! The prompts: beginnings of stories, drawn from a seed.

use anyhow::{Result, ensure};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::pretrained::Pretrained;
use slowburn::tokenizer::Tokenizer;

use crate::corpus;

/// Cuts texts into prompts of the same length.
pub struct Prompts {
    tokenizer: Tokenizer,
    seed: u64,
    /// Tokens that follow the shared prefix.
    own: usize,
    /// What prompts begin with.
    shared: Vec<Vec<u32>>,
}

/// The numbers from which the texts of prefixes are drawn: no request has one of these.
const PREFIXES: u64 = 1 << 40;
const MOST_PREFIXES: usize = 100_000;

impl Prompts {
    /// `tokens` tokens each, of which the first `shared` are one of `prefixes` beginnings.
    pub fn new(seed: u64, tokens: usize, shared: usize, prefixes: usize) -> Result<Self> {
        ensure!(tokens >= 1, "a prompt has a token at least");
        ensure!(
            shared <= tokens,
            "a prompt of {tokens} tokens cannot have {shared} in common with the others"
        );
        ensure!(
            (1..=MOST_PREFIXES).contains(&prefixes),
            "there are from 1 to {MOST_PREFIXES} prefixes, not {prefixes}"
        );
        let device = device::open(DeviceChoice::Cpu)?;
        let tokenizer = Pretrained::bundled(&device, Precision::F32)?.tokenizer;
        let mut prompts = Self { tokenizer, seed, own: tokens - shared, shared: Vec::new() };
        // The first has the number 0, with which there was only one.
        let number = |prefix: u64| if prefix == 0 { 0 } else { PREFIXES + prefix };
        let texts = (0..prefixes as u64).map(|prefix| prompts.tokens(number(prefix), shared));
        prompts.shared = texts.collect::<Result<_>>()?;
        Ok(prompts)
    }

    /// The prompt of the request with this number.
    pub fn prompt(&self, number: u64) -> Result<String> {
        // By chance: prefixes in turns would meet a router that takes replicas in turns.
        let drawn = ChaCha8Rng::seed_from_u64(self.seed.wrapping_add(number)).next_u64();
        let mut ids = self.shared[(drawn % self.shared.len() as u64) as usize].clone();
        ids.extend(self.tokens(number + 1, self.own)?);
        Ok(self.tokenizer.decode(&ids)?)
    }

    /// The first tokens of a text of stories, which differs from number to number.
    fn tokens(&self, number: u64, count: usize) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        // A number for each, far from those of its neighbours.
        for story in corpus::stories(self.seed.wrapping_add(number << 20)) {
            if ids.len() >= count {
                break;
            }
            ids.extend(self.tokenizer.encode(&format!("{}\n\n", story.text))?);
        }
        ids.truncate(count);
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_differ_after_their_shared_prefix() {
        let prompts = Prompts::new(1, 400, 30, 1).unwrap();
        let [a, b] = [0, 1].map(|number| prompts.prompt(number).unwrap());
        assert_ne!(a, b);
        let shared = prompts.tokenizer.decode(&prompts.shared[0]).unwrap();
        assert!(a.starts_with(&shared) && b.starts_with(&shared));
        assert_eq!(a, Prompts::new(1, 400, 30, 1).unwrap().prompt(0).unwrap());
        assert_ne!(a, Prompts::new(2, 400, 30, 1).unwrap().prompt(0).unwrap());
    }

    #[test]
    fn each_prompt_begins_with_one_of_the_prefixes() {
        let prompts = Prompts::new(1, 40, 30, 4).unwrap();
        let prefixes: Vec<String> =
            prompts.shared.iter().map(|ids| prompts.tokenizer.decode(ids).unwrap()).collect();
        let mut counts = [0; 4];
        for number in 0..60 {
            let prompt = prompts.prompt(number).unwrap();
            counts[prefixes.iter().position(|prefix| prompt.starts_with(prefix)).unwrap()] += 1;
        }
        assert!(counts.iter().all(|&count| count >= 5), "{counts:?}");
    }

    #[test]
    fn lengths_that_are_none_are_refused() {
        assert!(Prompts::new(1, 0, 0, 1).is_err());
        assert!(Prompts::new(1, 8, 9, 1).is_err());
        assert!(Prompts::new(1, 8, 4, 0).is_err());
    }
}
