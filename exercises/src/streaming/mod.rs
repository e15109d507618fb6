//! 07 Streaming
