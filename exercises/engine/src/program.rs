//! The program: a story, and whether it is that of the book.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use crate::parts::{End, Parts};
use crate::story::{self, LIMIT, Request};
use crate::verdict::{Expected, Verdict, verdict};
use crate::weights;

/// Writes a story with these parts, from the root of the project. Fails where it is not the book's.
pub fn run(parts: &Parts) -> ExitCode {
    match write(parts) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(parts: &Parts) -> Result<bool, Box<dyn Error>> {
    let request = request(std::env::args().skip(1))?;
    let engine = Arc::new(weights::read(Path::new("models/ember"))?);
    let mut out = io::stdout();
    write!(out, "{}", request.prompt)?;
    out.flush()?;
    let written = story::write(&engine, parts, &request, LIMIT, |piece| {
        // A terminal that is gone is no reason to stop.
        let _ = write!(out, "{piece}").and_then(|()| out.flush());
    });
    println!("\n");
    let story = match written {
        Ok(story) => story,
        Err(broken) => {
            println!("The engine stopped: {broken}");
            notice(parts);
            return Ok(false);
        }
    };
    let of_first_light = request == Request::default();
    let expected = if of_first_light {
        Expected::first_light(&engine.1)
    } else {
        let book = Parts::of_the_book();
        story::write(&engine, &book, &request, LIMIT, |_| ()).map_err(|b| b.to_string())?.into()
    };
    let why = match story.end {
        End::Eos => "the model ended it",
        End::Length => "as many as were asked for",
        End::Context => "the context is full",
    };
    println!("  {} prompt tokens, {} new tokens ({why})", story.prompt.len(), story.ids.len());
    let verdict = verdict(&story, &expected);
    let whose = if of_first_light {
        "those of First light"
    } else {
        "what the book's parts write"
    };
    if verdict == Verdict::Same {
        println!("  compared one by one: all ids are {whose}, and so is the text");
    } else {
        println!("  compared with {whose}, one by one:\n\n{}", verdict.in_words(&engine.1));
    }
    notice(parts);
    Ok(verdict == Verdict::Same)
}

/// Where to look first.
fn notice(parts: &Parts) {
    if let Some(odd) = parts.noticed.odd() {
        println!("The first result that is not the book's, for the same input: {odd}.");
    }
}

/// Reads `--prompt TEXT` and `--seed NUMBER`.
fn request(mut args: impl Iterator<Item = String>) -> Result<Request, Box<dyn Error>> {
    let mut request = Request::default();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or(format!("{flag} has no value"))?;
        match flag.as_str() {
            "--prompt" => request.prompt = value,
            "--seed" => request.seed = value.parse()?,
            _ => return Err(format!("there is no flag {flag}").into()),
        }
    }
    Ok(request)
}
