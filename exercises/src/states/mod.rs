//! When attention is not all

mod delta_step;

#[path = "../../suite/states/delta_step.rs"]
mod delta_step_tests;

mod delta_chunk;

#[path = "../../suite/states/delta_chunk.rs"]
mod delta_chunk_tests;

mod cached_convolution;

#[path = "../../suite/states/cached_convolution.rs"]
mod cached_convolution_tests;

mod old_snapshot;

#[path = "../../suite/states/old_snapshot.rs"]
mod old_snapshot_tests;

mod absorbed_matrix;

#[path = "../../suite/states/absorbed_matrix.rs"]
mod absorbed_matrix_tests;

mod sink_spans;

#[path = "../../suite/states/sink_spans.rs"]
mod sink_spans_tests;

mod router_groups;

#[path = "../../suite/states/router_groups.rs"]
mod router_groups_tests;

mod mxfp4_block;

#[path = "../../suite/states/mxfp4_block.rs"]
mod mxfp4_block_tests;
