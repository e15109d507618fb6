//! 00 The naive loop
