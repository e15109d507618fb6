//! 11 GPUs

mod launch_grid;

#[path = "../../suite/gpus/launch_grid.rs"]
mod launch_grid_tests;

mod cache_lines;

#[path = "../../suite/gpus/cache_lines.rs"]
mod cache_lines_tests;

mod tree_sum;

#[path = "../../suite/gpus/tree_sum.rs"]
mod tree_sum_tests;

mod slab_index;

#[path = "../../suite/gpus/slab_index.rs"]
mod slab_index_tests;

mod waves;

#[path = "../../suite/gpus/waves.rs"]
mod waves_tests;

mod rotation_race;

#[path = "../../suite/gpus/rotation_race.rs"]
mod rotation_race_tests;
