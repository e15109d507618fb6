//! `cargo xtask page`: opens the server's page in a browser, and uses it.

pub mod devtools;
mod looks;
mod refusals;
mod uses;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use slowburn::device::Precision;

use crate::book::browser::Chromium;
use crate::random_checkpoint::{self, Shape};
use crate::server::{self, Server};
use devtools::Browser;

#[derive(Args)]
pub struct PageArgs {
    /// The browser; by default the first of chromium, chromium-browser and google-chrome
    #[arg(long, env = "CHROMIUM", value_name = "PROGRAM")]
    chromium: Option<PathBuf>,
    /// The server; by default example 16_server is built
    #[arg(long, value_name = "PROGRAM")]
    server: Option<PathBuf>,
    /// Where to put pictures of the page
    #[arg(long, value_name = "FOLDER", default_value = "target/page")]
    out: PathBuf,
}

const KEY: &str = "a-key-for-the-test";

pub fn run(args: &PageArgs) -> Result<()> {
    let chromium = Chromium::find(args.chromium.as_deref())?;
    let program = server::program(args.server.as_deref())?;
    fs::create_dir_all(&args.out)?;
    let start = |flags: &[&str]| Server::start_ours(&program, flags);

    // Random weights: slower than the bundled model, so that there is time to stop it.
    let model = tempfile::tempdir()?;
    random_checkpoint::write(Shape::Stories15m, model.path(), Precision::F32, 1)?;
    let model = model.path().to_str().context("the folder's name is not UTF-8")?;

    let server = start(&[])?;
    let slow = start(&["--model", model])?;
    let locked = start(&["--api-key", KEY])?;
    let limited = start(&["--rate-per-minute", "6"])?;
    let browser = &mut Browser::start(&chromium)?;

    step("the parser of the stream", || uses::parser(browser, &server))?;
    step("a prompt, its continuation, and more of it", || {
        uses::generate(browser, &server)
    })?;
    step("sliders and bars", || uses::sliders(browser, &server))?;
    step("the keyboard alone, and the pointer", || uses::keyboard(browser, &server))?;
    step("tokens as they arrive, and Stop", || uses::stop(browser, &slow))?;
    step("no motion", || uses::stillness(browser, &server))?;
    step("an API key", || refusals::key(browser, &locked, KEY))?;
    step("too many requests", || refusals::rate(browser, &limited))?;
    step("a server that dies in the middle of a text", || refusals::lost(browser, slow))?;
    step("a server that goes and comes back", || refusals::gone(browser, start))?;
    step("desk and phone, light and dark", || {
        looks::check(browser, &server, &locked, &args.out)
    })?;
    println!("the page: no problems; pictures of it are in {}", args.out.display());
    Ok(())
}

fn step(name: &str, check: impl FnOnce() -> Result<()>) -> Result<()> {
    let begin = Instant::now();
    check().with_context(|| name.to_owned())?;
    eprintln!("{name}: {:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}
