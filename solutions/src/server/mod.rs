//! 16 A server

pub mod api_key;
pub mod chat_chunks;
pub mod full_queue;
pub mod gone_client;
pub mod graceful_shutdown;
pub mod histogram;
pub mod open_loop;
pub mod retry;
pub mod sse_encode;
pub mod sse_parse;
pub mod token_bucket;
