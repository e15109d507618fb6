//! The server over real HTTP. What clients of other servers rely on is in `tests/openai`, and a
//! load of all kinds of clients in `tests/serve_load.rs`.

#[path = "../common/mod.rs"]
mod common;

mod bodies;
mod ends;
mod settings;
