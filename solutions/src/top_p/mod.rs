//! 04 Top-p
