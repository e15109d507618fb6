//! 16 A server

mod sse_encode;

#[path = "../../suite/server/sse_encode.rs"]
mod sse_encode_tests;

mod sse_parse;

#[path = "../../suite/server/sse_parse.rs"]
mod sse_parse_tests;

mod api_key;

#[path = "../../suite/server/api_key.rs"]
mod api_key_tests;

mod token_bucket;

#[path = "../../suite/server/token_bucket.rs"]
mod token_bucket_tests;

mod full_queue;

#[path = "../../suite/server/full_queue.rs"]
mod full_queue_tests;

mod retry;

#[path = "../../suite/server/retry.rs"]
mod retry_tests;

mod histogram;

#[path = "../../suite/server/histogram.rs"]
mod histogram_tests;

mod chat_chunks;

#[path = "../../suite/server/chat_chunks.rs"]
mod chat_chunks_tests;

mod gone_client;

#[path = "../../suite/server/gone_client.rs"]
mod gone_client_tests;

mod graceful_shutdown;

#[path = "../../suite/server/graceful_shutdown.rs"]
mod graceful_shutdown_tests;

mod open_loop;

#[path = "../../suite/server/open_loop.rs"]
mod open_loop_tests;
