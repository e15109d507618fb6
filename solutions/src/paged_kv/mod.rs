//! 09 Paged keys and values

pub mod block_table;

#[cfg(test)]
#[path = "../../../exercises/suite/paged_kv/block_table.rs"]
mod block_table_tests;

pub mod block_allocator;

#[cfg(test)]
#[path = "../../../exercises/suite/paged_kv/block_allocator.rs"]
mod block_allocator_tests;

pub mod copy_on_write;

#[cfg(test)]
#[path = "../../../exercises/suite/paged_kv/copy_on_write.rs"]
mod copy_on_write_tests;

pub mod shared_block;

#[cfg(test)]
#[path = "../../../exercises/suite/paged_kv/shared_block.rs"]
mod shared_block_tests;

pub mod chained_hashes;

#[cfg(test)]
#[path = "../../../exercises/suite/paged_kv/chained_hashes.rs"]
mod chained_hashes_tests;

pub mod full_hit;

#[cfg(test)]
#[path = "../../../exercises/suite/paged_kv/full_hit.rs"]
mod full_hit_tests;

pub mod longest_prefix;

#[cfg(test)]
#[path = "../../../exercises/suite/paged_kv/longest_prefix.rs"]
mod longest_prefix_tests;

pub mod eviction_order;

#[cfg(test)]
#[path = "../../../exercises/suite/paged_kv/eviction_order.rs"]
mod eviction_order_tests;
