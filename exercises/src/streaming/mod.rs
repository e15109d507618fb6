//! 07 Streaming

mod timings;

#[path = "../../suite/streaming/timings.rs"]
mod timings_tests;

mod incremental_decode;

#[path = "../../suite/streaming/incremental_decode.rs"]
mod incremental_decode_tests;

mod stop_strings;

#[path = "../../suite/streaming/stop_strings.rs"]
mod stop_strings_tests;
