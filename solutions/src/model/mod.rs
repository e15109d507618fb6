//! The model

pub mod causal_attention;

#[cfg(test)]
#[path = "../../../exercises/suite/model/causal_attention.rs"]
mod causal_attention_tests;

pub mod causal_mask;

#[cfg(test)]
#[path = "../../../exercises/suite/model/causal_mask.rs"]
mod causal_mask_tests;

pub mod count_weights;

#[cfg(test)]
#[path = "../../../exercises/suite/model/count_weights.rs"]
mod count_weights_tests;

pub mod grouped_query_attention;

#[cfg(test)]
#[path = "../../../exercises/suite/model/grouped_query_attention.rs"]
mod grouped_query_attention_tests;

pub mod rms_norm;

#[cfg(test)]
#[path = "../../../exercises/suite/model/rms_norm.rs"]
mod rms_norm_tests;

pub mod rope;

#[cfg(test)]
#[path = "../../../exercises/suite/model/rope.rs"]
mod rope_tests;

pub mod split_heads;

#[cfg(test)]
#[path = "../../../exercises/suite/model/split_heads.rs"]
mod split_heads_tests;

pub mod swiglu;

#[cfg(test)]
#[path = "../../../exercises/suite/model/swiglu.rs"]
mod swiglu_tests;
