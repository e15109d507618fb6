//! 06 Batching
