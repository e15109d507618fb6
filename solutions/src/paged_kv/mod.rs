//! 09 Paged keys and values

pub mod block_allocator;
pub mod block_table;
pub mod chained_hashes;
pub mod copy_on_write;
pub mod eviction_order;
pub mod full_hit;
pub mod longest_prefix;
pub mod shared_block;
