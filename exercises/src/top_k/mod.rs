//! 02 Top-k
