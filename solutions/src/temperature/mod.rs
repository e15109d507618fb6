//! 03 Temperature

pub mod softmax;

#[cfg(test)]
#[path = "../../../exercises/suite/temperature/softmax.rs"]
mod softmax_tests;
