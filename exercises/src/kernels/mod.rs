//! 10 Kernels

mod roofline;

#[path = "../../suite/kernels/roofline.rs"]
mod roofline_tests;

mod microkernel;

#[path = "../../suite/kernels/microkernel.rs"]
mod microkernel_tests;

mod online_softmax;

#[path = "../../suite/kernels/online_softmax.rs"]
mod online_softmax_tests;

mod merge_spans;

#[path = "../../suite/kernels/merge_spans.rs"]
mod merge_spans_tests;

mod two_sums;

#[path = "../../suite/kernels/two_sums.rs"]
mod two_sums_tests;

mod tile_sum;

#[path = "../../suite/kernels/tile_sum.rs"]
mod tile_sum_tests;

mod pack_tile;

#[path = "../../suite/kernels/pack_tile.rs"]
mod pack_tile_tests;

mod rows_of_tiles;

#[path = "../../suite/kernels/rows_of_tiles.rs"]
mod rows_of_tiles_tests;
