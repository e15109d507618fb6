//! A scheduler and its memory, as a run has them.

use anyhow::{Result, ensure};
use slowburn::engine::{EngineConfig, Policy, Scheduler};

/// The settings of a scheduler and the memory that it plans with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    pub config: EngineConfig,
    /// The positions of a block.
    pub block_size: usize,
    /// The positions of all blocks.
    pub kv_cache: usize,
}

impl Setup {
    pub fn check(&self) -> Result<()> {
        ensure!(self.config.max_running >= 1, "a batch has a sequence at least");
        ensure!(self.config.token_budget >= 1, "a step has a token at least");
        ensure!(self.block_size >= 1, "a block has a position at least");
        ensure!(
            self.blocks() >= 1,
            "a KV cache of {} positions has no block of {}",
            self.kv_cache,
            self.block_size
        );
        ensure!(
            u32::try_from(self.blocks()).is_ok(),
            "a KV cache of {} positions has too many blocks of {}",
            self.kv_cache,
            self.block_size
        );
        Ok(())
    }

    pub fn blocks(&self) -> usize {
        self.kv_cache / self.block_size
    }

    pub fn scheduler(&self) -> Scheduler {
        Scheduler::new(self.config, self.block_size, self.blocks())
    }

    /// The same with another policy.
    pub fn with(self, policy: Policy, prefix_cache: bool) -> Self {
        let config = EngineConfig { policy, prefix_cache, ..self.config };
        Self { config, ..self }
    }
}
