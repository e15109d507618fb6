//! The engine of the pages on this machine: requests on standard input, a line each, and answers on
//! standard output. `cargo xtask live --browser` compares them with those in a browser.
//!
//! A line is `open KIND` or `ask NUMBER REQUEST`; an answer is `ok ANSWER` or `error MESSAGE`.

use std::io::{BufRead, Write};

use slowburn_live::{Engine, Result};

fn main() -> Result<()> {
    let weights = std::env::args().nth(1).ok_or("usage: answers FILE.gguf")?;
    let mut engine = Engine::new(std::fs::read(weights)?)?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        match answer(&mut engine, &line?) {
            Ok(answer) => writeln!(out, "ok {answer}")?,
            Err(error) => writeln!(out, "error {}", error.to_string().replace('\n', " "))?,
        }
        out.flush()?;
    }
    Ok(())
}

fn answer(engine: &mut Engine, line: &str) -> Result<String> {
    match line.split_once(' ') {
        Some(("open", kind)) => Ok(engine.open(kind)?.to_string()),
        Some(("ask", rest)) => {
            let (number, request) = rest.split_once(' ').ok_or("a line without a request")?;
            engine.ask(number.parse()?, request)
        }
        _ => Err("a line is `open KIND` or `ask NUMBER REQUEST`".into()),
    }
}
