//! The suite, mounted beneath every variant: a `wrong_` one must fail at least one test, a `right_`
//! one must pass all, as the answer does, and the stub none. All are compiled at once.
//!
//! `build.rs` makes the modules; `ONLY_EXERCISES=name,name` in the environment keeps only the
//! modules of these exercises.

#[allow(unused, reason = "`ONLY_EXERCISES` may leave nobody who uses it")]
#[path = "../../exercises/suite/support/with_tensors.rs"]
mod support;

include!(concat!(env!("OUT_DIR"), "/variants.rs"));
