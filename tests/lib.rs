//! The tests are in the files beside this one.
