//! 16 A server

pub mod sse_encode;

#[cfg(test)]
#[path = "../../../exercises/suite/server/sse_encode.rs"]
mod sse_encode_tests;

pub mod sse_parse;

#[cfg(test)]
#[path = "../../../exercises/suite/server/sse_parse.rs"]
mod sse_parse_tests;

pub mod api_key;

#[cfg(test)]
#[path = "../../../exercises/suite/server/api_key.rs"]
mod api_key_tests;

pub mod token_bucket;

#[cfg(test)]
#[path = "../../../exercises/suite/server/token_bucket.rs"]
mod token_bucket_tests;

pub mod full_queue;

#[cfg(test)]
#[path = "../../../exercises/suite/server/full_queue.rs"]
mod full_queue_tests;

pub mod retry;

#[cfg(test)]
#[path = "../../../exercises/suite/server/retry.rs"]
mod retry_tests;

pub mod histogram;

#[cfg(test)]
#[path = "../../../exercises/suite/server/histogram.rs"]
mod histogram_tests;

pub mod chat_chunks;

#[cfg(test)]
#[path = "../../../exercises/suite/server/chat_chunks.rs"]
mod chat_chunks_tests;

pub mod gone_client;

#[cfg(test)]
#[path = "../../../exercises/suite/server/gone_client.rs"]
mod gone_client_tests;

pub mod graceful_shutdown;

#[cfg(test)]
#[path = "../../../exercises/suite/server/graceful_shutdown.rs"]
mod graceful_shutdown_tests;

pub mod open_loop;

#[cfg(test)]
#[path = "../../../exercises/suite/server/open_loop.rs"]
mod open_loop_tests;
