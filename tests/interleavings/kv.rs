//! The blocks of the scheduler, without memory.

#[path = "../../src/kv/block.rs"]
mod block;
#[path = "../../src/kv/manager.rs"]
mod manager;
#[path = "../../src/kv/pool.rs"]
mod pool;
#[path = "../../src/kv/prefix.rs"]
mod prefix;
#[path = "../../src/kv/turn.rs"]
mod turn;

pub use block::{Block, BlockId, BlockTable, Memory};
pub(crate) use manager::Extension;
pub use manager::{BlockCounts, BlockManager};
pub use pool::Pool;
pub use prefix::PrefixStats;
pub(crate) use turn::{Lender, LenderId, MOST_PAUSES, Turn, pause};

/// Keys and values of a model that computes none.
pub type KvMemory = ();
