//! The prompts: beginnings of stories, drawn from a seed.

use anyhow::{Result, ensure};
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
    /// What all prompts begin with.
    shared: Vec<u32>,
}

impl Prompts {
    /// `tokens` tokens each, of which the first `shared` are the same.
    pub fn new(seed: u64, tokens: usize, shared: usize) -> Result<Self> {
        ensure!(tokens >= 1, "a prompt has a token at least");
        ensure!(
            shared <= tokens,
            "a prompt of {tokens} tokens cannot have {shared} in common with the others"
        );
        let device = device::open(DeviceChoice::Cpu)?;
        let tokenizer = Pretrained::bundled(&device, Precision::F32)?.tokenizer;
        let mut prompts = Self { tokenizer, seed, own: tokens - shared, shared: Vec::new() };
        prompts.shared = prompts.tokens(0, shared)?;
        Ok(prompts)
    }

    /// The prompt of the request with this number.
    pub fn prompt(&self, number: u64) -> Result<String> {
        let mut ids = self.shared.clone();
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
        let prompts = Prompts::new(1, 400, 30).unwrap();
        let [a, b] = [0, 1].map(|number| prompts.prompt(number).unwrap());
        assert_ne!(a, b);
        let shared = prompts.tokenizer.decode(&prompts.shared).unwrap();
        assert!(a.starts_with(&shared) && b.starts_with(&shared));
        assert_eq!(a, Prompts::new(1, 400, 30).unwrap().prompt(0).unwrap());
        assert_ne!(a, Prompts::new(2, 400, 30).unwrap().prompt(0).unwrap());
    }

    #[test]
    fn lengths_that_are_none_are_refused() {
        assert!(Prompts::new(1, 0, 0).is_err());
        assert!(Prompts::new(1, 8, 9).is_err());
    }
}
