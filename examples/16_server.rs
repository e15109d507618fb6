//! A server with OpenAI's API, and a page at http://127.0.0.1:8080.
//!
//! cargo run --features serve --example 16_server

use std::env;
use std::process::ExitCode;

use slowburn_server::{Settings, serve, start_log};

// ANCHOR: main
fn main() -> ExitCode {
    let settings = Settings::load(env::args_os()).unwrap_or_else(|error| error.exit());
    start_log(&settings);
    match serve(settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
// ANCHOR_END: main
