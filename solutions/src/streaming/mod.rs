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

pub mod cancel;

#[cfg(test)]
#[path = "../../../exercises/suite/streaming/cancel.rs"]
mod cancel_tests;

pub mod frozen_readers;

#[cfg(test)]
#[path = "../../../exercises/suite/streaming/frozen_readers.rs"]
mod frozen_readers_tests;

pub mod token_stream;

#[cfg(test)]
#[path = "../../../exercises/suite/streaming/token_stream.rs"]
mod token_stream_tests;

pub mod pausing;

#[cfg(test)]
#[path = "../../../exercises/suite/streaming/pausing.rs"]
mod pausing_tests;

pub mod handler;

#[cfg(test)]
#[path = "../../../exercises/suite/streaming/handler.rs"]
mod handler_tests;
