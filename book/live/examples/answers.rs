//! The engine of the pages on this machine: questions on standard input, a line of JSON each, and answers
//! on standard output. `cargo xtask live --browser` compares them with those in a browser.
//!
//! A question is `{"open": KIND}` or `{"ask": [NUMBER, REQUEST]}`; an answer is `{"Ok": ANSWER}` or
//! `{"Err": MESSAGE}`. All of these but the number are texts.

use std::io::{BufRead, Write};

use serde::Deserialize;
use slowburn_live::{Engine, Result};

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Question {
    Open(String),
    Ask(u32, String),
}

fn main() -> Result<()> {
    let weights = std::env::args().nth(1).ok_or("usage: answers FILE.gguf")?;
    let mut engine = Engine::new(std::fs::read(weights)?)?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let question: Question = serde_json::from_str(&line?)?;
        let answer = match question {
            Question::Open(kind) => engine.open(&kind).map(|number| number.to_string()),
            Question::Ask(number, request) => engine.ask(number, &request),
        };
        let answer = answer.map_err(|error| error.to_string().replace('\n', " "));
        writeln!(out, "{}", serde_json::to_string(&answer)?)?;
        out.flush()?;
    }
    Ok(())
}
