//! A server: the API of OpenAI over the model, with validation, limits, metrics and a page.
//!
//! ```no_run
//! use slowburn_server::{Settings, serve, start_log};
//!
//! let settings = Settings::load(std::env::args_os()).unwrap_or_else(|error| error.exit());
//! start_log(&settings);
//! serve(settings)?;
//! # Ok::<(), slowburn_server::ServerError>(())
//! ```
//!
//! A request comes in by a connection (`connections`, `connection`), passes the layers (`routes`:
//! its id, the log, the `Host` header, the rate limit, the API key, the limits on its body), is
//! parsed and validated (`json`, `wire`), and becomes one job of the
//! [`inference`](slowburn::inference) with a sequence for each choice (`request`, `updates`). What the
//! answer must look like becomes a grammar (`formats`, `tools`). What the
//! job emits becomes one JSON object (`reply`) or a stream of server-sent events (`sse`).

mod access;
mod auth;
mod blocking;
mod connection;
mod connections;
mod conversation;
mod deadline;
mod error;
#[cfg(test)]
#[path = "../../tests/common/foreign_words.rs"]
mod foreign_words;
mod formats;
mod free_memory;
mod host;
mod json;
mod json_words;
mod large_integers;
mod lingering;
mod log;
mod metrics;
mod open_files;
mod queue_wait;
mod rate_limit;
mod reply;
mod request;
mod request_body;
mod routes;
mod seeds;
mod server;
mod service;
mod settings;
mod signals;
mod slots;
mod sources;
mod sse;
mod state;
mod tools;
mod unsupported;
mod updates;
mod wire;

pub use auth::ApiKeys;
pub use free_memory::use_one_arena;
pub use log::start_log;
pub use server::{Server, ServerError, serve};
pub use settings::{LogFilter, LogFormat, Origins, Seconds, Settings, SettingsError};
pub use sources::{ConfigError, command};
