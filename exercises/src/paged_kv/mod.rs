//! 09 Paged keys and values

mod block_table;

#[path = "../../suite/paged_kv/block_table.rs"]
mod block_table_tests;

mod block_allocator;

#[path = "../../suite/paged_kv/block_allocator.rs"]
mod block_allocator_tests;

mod copy_on_write;

#[path = "../../suite/paged_kv/copy_on_write.rs"]
mod copy_on_write_tests;

mod shared_block;

#[path = "../../suite/paged_kv/shared_block.rs"]
mod shared_block_tests;

mod chained_hashes;

#[path = "../../suite/paged_kv/chained_hashes.rs"]
mod chained_hashes_tests;

mod full_hit;

#[path = "../../suite/paged_kv/full_hit.rs"]
mod full_hit_tests;

mod longest_prefix;

#[path = "../../suite/paged_kv/longest_prefix.rs"]
mod longest_prefix_tests;

mod eviction_order;

#[path = "../../suite/paged_kv/eviction_order.rs"]
mod eviction_order_tests;
