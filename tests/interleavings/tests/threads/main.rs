//! What must hold in whatever order the threads around the model take their turns.
//!
//! `SLOWBURN_INTERLEAVINGS` is the number of orders that each of the two schedulers tries.

mod check;
mod ends;
mod polled;
mod questions;
mod queue;
mod streams;
