//! The benches are in the files beside this one.
