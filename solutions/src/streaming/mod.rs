//! 07 Streaming

pub mod cancel;
pub mod frozen_readers;
pub mod handler;
pub mod incremental_decode;
pub mod pausing;
pub mod stop_strings;
pub mod timings;
pub mod token_stream;
