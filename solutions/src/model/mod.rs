//! The model

pub mod causal_mask;

#[cfg(test)]
#[path = "../../../exercises/suite/model/causal_mask.rs"]
mod causal_mask_tests;
