//! 07 Streaming

pub mod timings;

#[cfg(test)]
#[path = "../../../exercises/suite/streaming/timings.rs"]
mod timings_tests;

pub mod incremental_decode;

#[cfg(test)]
#[path = "../../../exercises/suite/streaming/incremental_decode.rs"]
mod incremental_decode_tests;

pub mod stop_strings;

#[cfg(test)]
#[path = "../../../exercises/suite/streaming/stop_strings.rs"]
mod stop_strings_tests;
