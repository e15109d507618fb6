//! Tokens
