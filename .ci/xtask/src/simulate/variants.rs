//! The runs of a command: policies side by side, or one setting at several values.

use clap::ValueEnum;
use slowburn::engine::{EngineConfig, Policy};

use super::setup::Setup;

/// A setting that is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sweep {
    /// Positions of a block
    BlockSize,
    /// Positions of all blocks
    KvCache,
    /// Tokens of a step
    TokenBudget,
}

/// A run, and what sets it apart from the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    pub label: String,
    /// The value of the setting, in a sweep.
    pub value: usize,
    pub setup: Setup,
}

/// All policies, and all of them with the prefix cache if there is a prefix to share.
pub fn policies(setup: Setup, is_shared: bool) -> Vec<Variant> {
    let caches: &[bool] = if is_shared { &[false, true] } else { &[false] };
    let variant = |policy: Policy, cache: bool| Variant {
        label: format!("{policy}{}", if cache { ", prefix cache" } else { "" }),
        value: 0,
        setup: setup.with(policy, cache),
    };
    let both = |policy| caches.iter().map(move |&cache| variant(policy, cache));
    Policy::ALL.into_iter().flat_map(both).collect()
}

impl Sweep {
    pub fn name(self) -> &'static str {
        match self {
            Self::BlockSize => "block size",
            Self::KvCache => "KV cache",
            Self::TokenBudget => "token budget",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Self::BlockSize | Self::KvCache => "positions",
            Self::TokenBudget => "tokens",
        }
    }

    /// Chunked prefill with the prefix cache, at several values of the setting.
    pub fn variants(self, setup: Setup, context: usize) -> Vec<Variant> {
        let setup = setup.with(Policy::ChunkedPrefill, true);
        let variant = |value: usize| Variant {
            label: value.to_string(),
            value,
            setup: self.set(setup, value),
        };
        self.values(setup, context).into_iter().map(variant).collect()
    }

    fn set(self, setup: Setup, value: usize) -> Setup {
        match self {
            Self::BlockSize => Setup { block_size: value, ..setup },
            Self::KvCache => Setup { kv_cache: value, ..setup },
            Self::TokenBudget => {
                let config = EngineConfig { token_budget: value, ..setup.config };
                Setup { config, ..setup }
            }
        }
    }

    /// Powers of two, or powers of two times the KV cache.
    fn values(self, setup: Setup, context: usize) -> Vec<usize> {
        let doubling = |first: usize, last: usize| {
            let values = std::iter::successors(Some(first.max(1)), |value| value.checked_mul(2));
            values.take_while(|value| *value <= last).collect::<Vec<_>>()
        };
        match self {
            Self::BlockSize => doubling(1, context.min(512)),
            // One that holds a whole request, so that none is refused.
            Self::KvCache => doubling(context + setup.block_size, setup.kv_cache.max(2 * context)),
            Self::TokenBudget => doubling((context / 64).next_power_of_two(), context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup() -> Setup {
        Setup {
            config: EngineConfig::default(),
            block_size: 32,
            kv_cache: 8192,
        }
    }

    #[test]
    fn the_prefix_cache_is_compared_where_a_prefix_is_shared() {
        let labels = |is_shared| {
            policies(setup(), is_shared)
                .into_iter()
                .map(|variant| variant.label)
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(false).len(), 4);
        assert_eq!(labels(true)[..2], ["one at a time", "one at a time, prefix cache"]);
        assert_eq!(labels(true).len(), 8);
    }

    #[test]
    fn a_sweep_changes_one_setting() {
        let sizes = Sweep::BlockSize.variants(setup(), 512);
        assert!(sizes.iter().all(|variant| variant.setup.kv_cache == 8192));
        let blocks: Vec<usize> = sizes.iter().map(|variant| variant.setup.block_size).collect();
        assert_eq!(blocks, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
        let budgets = Sweep::TokenBudget.variants(setup(), 512);
        let budgets: Vec<usize> =
            budgets.iter().map(|variant| variant.setup.config.token_budget).collect();
        assert_eq!(budgets, [8, 16, 32, 64, 128, 256, 512]);
        let caches = Sweep::KvCache.variants(setup(), 512);
        assert!(caches.iter().all(|variant| variant.setup.check().is_ok()));
        assert!(caches.len() >= 4 && caches[0].setup.kv_cache >= 512);
    }
}
