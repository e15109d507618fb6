//! The model

mod causal_attention;

#[path = "../../suite/model/causal_attention.rs"]
mod causal_attention_tests;

mod causal_mask;

#[path = "../../suite/model/causal_mask.rs"]
mod causal_mask_tests;

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

mod split_heads;

#[path = "../../suite/model/split_heads.rs"]
mod split_heads_tests;

mod swiglu;

#[path = "../../suite/model/swiglu.rs"]
mod swiglu_tests;
