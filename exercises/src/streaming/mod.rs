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

mod cancel;

#[path = "../../suite/streaming/cancel.rs"]
mod cancel_tests;

mod frozen_readers;

#[path = "../../suite/streaming/frozen_readers.rs"]
mod frozen_readers_tests;

mod token_stream;

#[path = "../../suite/streaming/token_stream.rs"]
mod token_stream_tests;

mod pausing;

#[path = "../../suite/streaming/pausing.rs"]
mod pausing_tests;

mod handler;

#[path = "../../suite/streaming/handler.rs"]
mod handler_tests;
