//! A model that computes nothing.

#[path = "../../src/model/logits.rs"]
mod logits;

use crate::engine::{ChunkInput, Forward, RecordedModel};
use crate::error::Result;
use crate::kv::Pool;
pub use logits::Logits;

/// The tokens of the vocabulary.
const VOCAB_SIZE: usize = 2;

/// Every token is as likely as any other, and none ends the text.
pub struct Model {
    config: Config,
    pool: Pool<()>,
}

pub struct Config {
    pub context_length: usize,
    pub vocab_size: usize,
    pub eos_token_ids: Vec<u32>,
    pub bos_token_id: Option<u32>,
}

/// The calling thread alone.
pub struct Cpu;

impl Cpu {
    pub(crate) fn for_each_of<T>(&self, items: &mut [T], work: impl Fn(&mut T)) {
        items.iter_mut().for_each(work);
    }
}

impl Model {
    /// A model with room for so many blocks.
    pub fn new(max_blocks: usize) -> Self {
        let config = Config {
            context_length: 1024,
            vocab_size: VOCAB_SIZE,
            eos_token_ids: Vec::new(),
            bos_token_id: Some(0),
        };
        Self { config, pool: Pool::of_blocks(max_blocks) }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn cpu(&self) -> Cpu {
        Cpu
    }

    pub fn kv_pool(&self) -> &Pool<()> {
        &self.pool
    }

    pub(crate) fn check_prompt(&self, _: &[u32]) -> Result<()> {
        Ok(())
    }

    /// The logits of the next token, `[vocab]`.
    pub(crate) fn logits(&self) -> Vec<f32> {
        vec![0.0; VOCAB_SIZE]
    }
}

impl Forward for Model {
    type Memory = ();

    fn pool(&self) -> &Pool<()> {
        &self.pool
    }

    fn is_paged(&self) -> bool {
        true
    }

    fn check_prompt(&self, _: &[u32]) -> Result<()> {
        Ok(())
    }

    fn forward(&self, chunks: &mut [ChunkInput<()>]) -> Result<Vec<Vec<f32>>> {
        let rows = |chunk: &ChunkInput<()>| match chunk.logits {
            Logits::None => 0,
            Logits::Last => 1,
            Logits::All => chunk.tokens.len(),
        };
        let rows = chunks.iter().map(rows).sum();
        Ok(vec![self.logits(); rows])
    }

    fn describe(&self) -> RecordedModel {
        RecordedModel
    }
}
