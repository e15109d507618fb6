//! The server over real HTTP. What clients of other servers rely on is in `tests/openai` of the whole project, and a
//! load of all kinds of clients in `serve_load.rs`.

#[path = "../common/mod.rs"]
mod common;

mod adapters;
mod bodies;
mod connections;
mod conversations;
mod counts;
mod embeddings;
mod ends;
mod faults;
#[path = "../../../tests/common/foreign_words.rs"]
mod foreign_words;
mod refusals;
mod settings;
mod thoughts;
mod tools;
mod words;
