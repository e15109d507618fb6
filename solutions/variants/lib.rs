//! The suite, mounted beneath every variant: `<chapter>/<exercise>/wrong_<mistake>.rs` must fail
//! at least one test, `right_<way>.rs` must pass all. `build.rs` makes the modules from the files;
//! `ONLY_EXERCISE=name` in the environment keeps those of one exercise.

#![allow(
    unused,
    invalid_nan_comparisons,
    clippy::all,
    reason = "wrong answers are written as people write them"
)]

#[path = "../../exercises/suite/support/with_tensors.rs"]
mod support;

include!(concat!(env!("OUT_DIR"), "/variants.rs"));
