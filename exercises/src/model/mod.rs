//! The model. Those with tensors are in `tensors.rs`.

mod count_weights;

#[path = "../../suite/model/count_weights.rs"]
mod count_weights_tests;

mod grouped_query_attention;

#[path = "../../suite/model/grouped_query_attention.rs"]
mod grouped_query_attention_tests;

mod rms_norm;

#[path = "../../suite/model/rms_norm.rs"]
mod rms_norm_tests;

mod rope;

#[path = "../../suite/model/rope.rs"]
mod rope_tests;

mod swiglu;

#[path = "../../suite/model/swiglu.rs"]
mod swiglu_tests;
