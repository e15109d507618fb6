//! Who owns which block. There is no memory here.

#[path = "../../src/kv/manager.rs"]
mod manager;
#[path = "../../src/kv/prefix.rs"]
mod prefix;

pub(crate) use manager::Extension;
pub use manager::{BlockCounts, BlockId, BlockManager, BlockTable};
pub use prefix::PrefixStats;
