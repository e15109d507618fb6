//! `cargo xtask page`: opens the server's page in a browser, and uses it.

mod looks;
mod refusals;
mod talks;
mod uses;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use slowburn::device::Precision;

use crate::browser::Browser;
use crate::random_checkpoint::{self, Shape};
use crate::server::{self, Server};

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

/// Writes what paragraphs would be: the bundled model knows nothing else.
const TEMPLATE: &str =
    "{% for m in messages %}{{ m.content }}{{ '\n' if m.role == 'user' else '\n\n' }}{% endfor %}";

const EMBER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/ember");

const KEY: &str = "a-key-for-the-test";

pub fn run(args: &PageArgs) -> Result<()> {
    let program = server::program(args.server.as_deref())?;
    fs::create_dir_all(&args.out)?;
    let start = |flags: &[&str]| Server::start_ours(&program, flags);

    // Random weights: slower than the bundled model, so that there is time to stop it.
    let model = tempfile::tempdir()?;
    random_checkpoint::write(Shape::Stories15m, model.path(), Precision::F32, 1)?;
    let model = model.path().to_str().context("the folder's name is not UTF-8")?;

    fs::write(Path::new(model).join("chat_template.jinja"), TEMPLATE)?;
    // The bundled model, as if it had learned to converse.
    let talker = tempfile::tempdir()?;
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        fs::copy(Path::new(EMBER).join(name), talker.path().join(name))?;
    }
    fs::write(talker.path().join("chat_template.jinja"), TEMPLATE)?;
    let talker = talker.path().to_str().context("the folder's name is not UTF-8")?;

    let server = start(&[])?;
    let talker_server = start(&["--model", talker])?;
    let slow = start(&["--model", model])?;
    let slow_talker = start(&["--model", model])?;
    let locked = start(&["--api-key", KEY])?;
    let limited = start(&["--rate-per-minute", "6"])?;
    let limited_talker = start(&["--rate-per-minute", "6", "--model", talker])?;
    let browser = &mut Browser::start(args.chromium.as_deref())?;

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
    step("the defaults of the command line", || {
        talks::defaults(browser, &server, &talker_server)
    })?;
    step("a conversation, and its tokens", || talks::converse(browser, &talker_server))?;
    step("Retry and Edit", || talks::again(browser, &talker_server))?;
    step("tools, their calls and results, and a thought", || {
        talks::tools(browser, &talker_server)
    })?;
    step("a conversation without a chat template", || talks::plain(browser, &server))?;
    step("answers that are stopped", || talks::stop(browser, &slow_talker))?;
    step("answers that are refused", || {
        talks::refused(browser, &talker_server, &limited_talker)
    })?;
    step("a server that dies in the middle of an answer", || {
        talks::lost(browser, slow_talker)
    })?;
    step("desk and phone, light and dark", || {
        looks::check(browser, [&server, &talker_server, &locked], &args.out)
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
