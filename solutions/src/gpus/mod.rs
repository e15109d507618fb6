//! 11 GPUs

pub mod launch_grid;

#[cfg(test)]
#[path = "../../../exercises/suite/gpus/launch_grid.rs"]
mod launch_grid_tests;

pub mod cache_lines;

#[cfg(test)]
#[path = "../../../exercises/suite/gpus/cache_lines.rs"]
mod cache_lines_tests;

pub mod tree_sum;

#[cfg(test)]
#[path = "../../../exercises/suite/gpus/tree_sum.rs"]
mod tree_sum_tests;

pub mod slab_index;

#[cfg(test)]
#[path = "../../../exercises/suite/gpus/slab_index.rs"]
mod slab_index_tests;

pub mod waves;

#[cfg(test)]
#[path = "../../../exercises/suite/gpus/waves.rs"]
mod waves_tests;

pub mod rotation_race;

#[cfg(test)]
#[path = "../../../exercises/suite/gpus/rotation_race.rs"]
mod rotation_race_tests;
