//! 03 Temperature

mod softmax;

#[path = "../../suite/temperature/softmax.rs"]
mod softmax_tests;
