//! The model

mod causal_mask;

#[path = "../../suite/model/causal_mask.rs"]
mod causal_mask_tests;
