//! What must hold in whatever order the threads around the model take their turns.
//!
//! Shuttle runs a test again and again, and each time lets the threads take turns in another order. A
//! thread can lose its turn wherever it locks, waits, sends, receives or touches an atomic. When every
//! thread waits for another, the test fails, and says in which order the threads ran.
//!
//! The crate `interleavings` is the library, built without Burn and with the locks, channels and threads
//! of shuttle in `crate::sync`. Its model computes nothing: all logits are 0.
//!
//! Not modelled:
//! - Deadlines. Shuttle has no clock: `recv_timeout` waits for ever.
//! - Weak memory. Every atomic operation is sequentially consistent here, whatever its `Ordering`.
//!   Those in `inference` are `Relaxed` and guard no other memory: whatever else another thread must
//!   see goes through a channel or a lock.
//! - `Arc`, which is that of the standard library.
//! - The turns of a pool and the grammars of a model, whose locks are those of the standard library: one
//!   engine has them alone.
//! - The threads of the kernels, which no thread of `inference` waits for outside a step.
//!
//! `SLOWBURN_INTERLEAVINGS` is the number of orders that each of the two schedulers tries.

mod check;
mod ends;
mod polled;
mod questions;
mod queue;
mod streams;
