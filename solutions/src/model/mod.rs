//! The model

pub mod causal_attention;
pub mod causal_mask;
pub mod count_weights;
pub mod grouped_query_attention;
pub mod rms_norm;
pub mod rope;
pub mod split_heads;
pub mod swiglu;
