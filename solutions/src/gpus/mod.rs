//! 11 GPUs

pub mod cache_lines;
pub mod launch_grid;
pub mod rotation_race;
pub mod slab_index;
pub mod tree_sum;
pub mod waves;
