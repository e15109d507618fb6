//! The program: what the engine writes, and whether it is what the book says.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use crate::batch::Counts;
use crate::blocks::BLOCK_SIZE;
use crate::broken::Broken;
use crate::constraint::Automaton;
use crate::guesses::{self, LOOKUP};
use crate::matrix::Bits;
use crate::model::Model;
use crate::other;
use crate::parts::{End, PARTS, Parts};
use crate::router::{self, Policy};
use crate::served;
use crate::server::{Server, Settings, Stopped};
use crate::several::{self, ROOM};
use crate::speed::{self, Effort, Rungs};
use crate::story::{self, LIMIT, Request, Story};
use crate::units::{self, Units};
use crate::verdict::{self, Expected, Verdict};
use crate::vocabulary::Vocabulary;
use crate::weights;

/// Prints a line. Where nobody reads any more, as behind `head`, the program ends.
macro_rules! say {
    ($($part:tt)*) => {
        if writeln!(io::stdout(), $($part)*).is_err() {
            std::process::exit(0);
        }
    };
}

/// What the program is asked for.
#[derive(Debug, PartialEq)]
enum Asked {
    /// The story of *First light*, and several texts.
    All,
    /// One story.
    Story(Box<Request>),
    /// A server at this address.
    Serve(String),
    /// The ladder of speeds.
    Speed,
    /// The one of the kernel.
    Kernel,
    /// Requests to two engines.
    Replicas,
}

type Engine = Arc<(Model, Vocabulary)>;

/// Whether everything is as in the book.
type Outcome = Result<bool, Box<dyn Error>>;

/// Writes with these parts, from the root of the project. Fails where something is not the book's.
pub fn run(parts: &Parts) -> ExitCode {
    match write(parts) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            // Not 1: nothing is said of the parts.
            ExitCode::from(2)
        }
    }
}

fn write(parts: &Parts) -> Outcome {
    let asked = asked(std::env::args().skip(1))?;
    let engine: Engine = Arc::new(weights::read(Path::new("models/ember"))?);
    let same = match asked {
        Asked::All => {
            one(&engine, parts, &Request::default())?
                && batch(&engine, parts)?
                && fewer_bits(&engine, parts)?
                && again(&engine, parts)?
                && inside(&engine, parts)?
                && on_units(&engine, parts)?
                && other_model(&engine, parts, &other::request())?
                && over_http(&engine, parts)?
                && replicas(&engine, parts)?
        }
        Asked::Story(request) => {
            can_be_read(&engine, &request.prompt)?;
            if request.blocks.is_some() {
                other_model(&engine, parts, &request)?
            } else {
                one(&engine, parts, &request)?
            }
        }
        Asked::Serve(address) => serve(&engine, parts, &address)?,
        Asked::Speed => speed(&engine, parts, speed::HEADING, speed::OF_THE_ENGINE)?,
        Asked::Kernel => speed(&engine, parts, speed::KERNEL_HEADING, speed::OF_THE_KERNEL)?,
        Asked::Replicas => replicas(&engine, parts)?,
    };
    if let Some(odd) = parts.noticed.odd() {
        say!("\nThe first result that is not the book's, for the same input: {odd}.");
    }
    Ok(same)
}

/// Refuses a prompt that is too long. The book's parts count it: a `merge` of yours may be wrong.
fn can_be_read(engine: &Engine, prompt: &str) -> Result<(), Box<dyn Error>> {
    let (model, vocabulary) = &**engine;
    let tokens = vocabulary.prompt(&Parts::of_the_book(), model.config.bos, prompt).len();
    let context = model.config.context;
    if tokens > context {
        let why = format!("the prompt has {tokens} tokens, and the model reads {context} at most");
        return Err(why.into());
    }
    Ok(())
}

/// One story, as it comes.
fn one(engine: &Engine, parts: &Parts, request: &Request) -> Outcome {
    let mut out = io::stdout();
    write!(out, "{}", request.prompt)?;
    out.flush()?;
    let written = story::write(engine, parts, request, LIMIT, |piece| {
        // A terminal that is gone is no reason to stop.
        let _ = write!(out, "{piece}").and_then(|()| out.flush());
    });
    say!("\n");
    let story = match written {
        Ok(story) => story,
        Err(broken) => return Ok(stopped(&broken)),
    };
    let why = match story.end {
        End::Eos if request.regex.is_some() => "it is complete",
        End::Eos => "the model ended it",
        End::Length => "as many as were asked for",
        End::Context => "the context is full",
    };
    say!("  {} prompt tokens, {} new tokens ({why})", story.prompt.len(), story.ids.len());
    if request.guesses.is_some() {
        let guesses::Counts { passes, guessed, accepted } = story.guesses;
        say!("  {passes} passes, {guessed} tokens guessed, {accepted} of them right");
    }
    compared(engine, request, &story)
}

/// Compares a story with the book's, which is written one token at a time.
fn compared(engine: &Engine, request: &Request, story: &Story) -> Outcome {
    let plain = Request { guesses: None, units: None, blocks: None, ..request.clone() };
    let (expected, whose) = if plain == Request::default() && request.blocks.is_none() {
        (Expected::first_light(&engine.1), "those of First light")
    } else {
        let book = Parts::of_the_book();
        let story =
            story::write(engine, &book, &plain, LIMIT, |_| ()).map_err(|b| b.to_string())?;
        let whose = match request {
            Request { guesses: Some(_), .. } => "what the book's parts write without guesses",
            Request { units: Some(_), .. } => "what the book's parts write without units",
            Request { blocks: Some(_), .. } => {
                "what the book's parts write where no block is given back"
            }
            _ => "what the book's parts write",
        };
        (story.into(), whose)
    };
    let verdict = verdict::verdict(story, &expected);
    if verdict == Verdict::Same {
        say!("  compared one by one: all ids are {whose}, and so is the text");
    } else {
        say!("  compared with {whose}, one by one:\n\n{}", verdict.in_words(&engine.1));
    }
    Ok(verdict == Verdict::Same)
}

/// A story that was told before, with guesses.
fn again(engine: &Engine, parts: &Parts) -> Outcome {
    say!("\nA story that was told before, with guesses:\n");
    one(engine, parts, &story::told_again())
}

/// A story that matches a regular expression.
fn inside(engine: &Engine, parts: &Parts) -> Outcome {
    say!("\nA text that has to match a regular expression:\n\n  {}\n", story::REGEX);
    one(engine, parts, &story::inside(story::REGEX)?)
}

/// A story whose kernels run on a loop over units.
fn on_units(engine: &Engine, parts: &Parts) -> Outcome {
    let Units { of_a_cube } = units::UNITS;
    say!("\nA text whose kernels run unit by unit, {of_a_cube} to a cube:\n");
    one(engine, parts, &units::request())
}

/// A story of the other model.
fn other_model(engine: &Engine, parts: &Parts, request: &Request) -> Outcome {
    let blocks = request.blocks.unwrap_or_default();
    say!(
        "\nA model with windows and experts, whose text is in {blocks} blocks of {BLOCK_SIZE} positions:\n"
    );
    let (ember, vocabulary) = &**engine;
    let other = Arc::new((other::made_of(ember), vocabulary.clone()));
    one(&other, parts, request)
}

/// Several texts at once.
fn batch(engine: &Engine, parts: &Parts) -> Outcome {
    let (texts, blocks) = (several::arrivals().len(), ROOM.blocks);
    say!("\n{texts} texts at once, in {blocks} blocks of {BLOCK_SIZE} positions:\n");
    let written = several::write(engine, parts, several::arrivals(), ROOM, Bits::All, LIMIT);
    let (stories, counts) = match written {
        Ok(written) => written,
        Err(broken) => return Ok(stopped(&broken)),
    };
    for story in &stories {
        say!("{}\n", story.text);
    }
    let new: usize = stories.iter().map(|story| story.ids.len()).sum();
    let Counts { steps, computed, found, preempted, deferred, paused } = counts;
    say!("  {steps} steps, {computed} tokens computed, {new} drawn");
    say!("  {found} tokens from the prefix cache");
    say!("  texts were paused {paused}, preempted {preempted} and deferred {deferred} times");
    Ok(match verdict::of_several(&stories, &Expected::several(&engine.1)) {
        None => {
            say!("  compared one by one: each text is the one that the crate writes alone");
            true
        }
        Some((number, verdict)) => {
            say!("\nText {number}: {}", verdict.in_words(&engine.1));
            false
        }
    })
}

/// A text from weights in 8 bits.
fn fewer_bits(engine: &Engine, parts: &Parts) -> Outcome {
    say!("\nA text with weights in 8 bits:\n");
    let write = |parts: &Parts| {
        let arrivals = several::arrivals().into_iter().take(1).collect();
        several::write(engine, parts, arrivals, ROOM, Bits::Eight, LIMIT)
    };
    let (stories, _) = match write(parts) {
        Ok(written) => written,
        Err(broken) => return Ok(stopped(&broken)),
    };
    let (expected, _) = write(&Parts::of_the_book()).map_err(|broken| broken.to_string())?;
    say!("{}\n", stories[0].text);
    let verdict = verdict::verdict(&stories[0], &expected[0].clone().into());
    if verdict == Verdict::Same {
        say!("  compared one by one: all ids are what the book's parts write with these weights");
    } else {
        say!("{}", verdict.in_words(&engine.1));
    }
    Ok(verdict == Verdict::Same)
}

/// Texts over HTTP.
fn over_http(engine: &Engine, parts: &Parts) -> Outcome {
    let slots = served::SETTINGS.slots;
    let requests = served::requests().len() + 1;
    say!("\n{requests} requests over HTTP, to a queue of {slots} texts:\n");
    let found = match served::ask(engine, parts, LIMIT) {
        Ok(found) => found,
        Err(Stopped::Broken(broken)) => return Ok(stopped(&broken)),
        Err(Stopped::Other(error)) => return Err(error.into()),
    };
    let answered: Vec<String> = found.answered.iter().map(ToString::to_string).collect();
    say!("  answered with {}", answered.join("; "));
    Ok(match verdict::of_served(&found, &Expected::several(&engine.1)) {
        None => {
            say!("  {} texts were compared, and are those above", found.texts.len());
            say!("  a client went, and all {slots} slots are free");
            true
        }
        Some(wrong) => {
            say!("\n{wrong}");
            false
        }
    })
}

/// Requests to two engines.
fn replicas(engine: &Engine, parts: &Parts) -> Outcome {
    let requests = router::requests().len();
    say!("\n{requests} requests to a router: replica 0 is gone, 1 and 2 are engines:\n");
    for policy in Policy::ALL {
        let asked = |parts: &Parts| router::ask(engine, parts, policy, LIMIT);
        let found = match asked(parts) {
            Ok(found) => found,
            Err(Stopped::Broken(broken)) => return Ok(stopped(&broken)),
            Err(Stopped::Other(error)) => return Err(error.into()),
        };
        let routed: Vec<String> = found.routed.iter().map(ToString::to_string).collect();
        say!("  {policy:<11}{}", routed.join("; "));
        let expected = match asked(&Parts::of_the_book()) {
            Ok(expected) => expected,
            Err(error) => return Err(format!("{error:?}").into()),
        };
        if let Some(wrong) = verdict::of_routed(&found, &expected) {
            say!("\n{wrong}");
            return Ok(false);
        }
    }
    say!("  compared: each went where the book's parts send it, and got the same text");
    Ok(true)
}

/// Serves until a part breaks.
fn serve(engine: &Engine, parts: &Parts, address: &str) -> Outcome {
    let server = Server::start(engine.clone(), parts.clone(), address, Settings::default());
    let mut server = match server {
        Ok(server) => server,
        Err(Stopped::Broken(broken)) => return Ok(stopped(&broken)),
        Err(Stopped::Other(error)) => return Err(error.into()),
    };
    server.compute();
    let (yours, all) = (parts.yours.len(), PARTS.len());
    say!(
        "{yours} of {all} parts are yours. Ctrl-C ends the engine at http://{}",
        server.address
    );
    loop {
        if let Some(broken) = server.wait(Duration::from_secs(3600), LIMIT) {
            return Ok(stopped(&broken));
        }
    }
}

/// Measures.
fn speed(engine: &Engine, parts: &Parts, heading: &str, rungs: &Rungs) -> Outcome {
    say!("{heading}");
    let measured =
        speed::ladder(engine, parts, rungs, Effort::default(), LIMIT, |rung| say!("{rung}"));
    Ok(match measured {
        Ok(()) => true,
        Err(broken) => stopped(&broken),
    })
}

/// Says which part broke: not as in the book.
fn stopped(broken: &Broken) -> bool {
    say!("The engine stopped: {broken}");
    false
}

/// Reads `--prompt TEXT`, `--seed NUMBER`, `--speculate`, `--regex PATTERN`, `--units NUMBER`,
/// `--experts`, `--serve ADDRESS`, `--speed`, `--kernel` and `--replicas`.
fn asked(mut args: impl Iterator<Item = String>) -> Result<Asked, Box<dyn Error>> {
    let (mut request, mut address) = (None::<Request>, None);
    while let Some(flag) = args.next() {
        match flag.as_str() {
            "--speed" => return Ok(Asked::Speed),
            "--kernel" => return Ok(Asked::Kernel),
            "--replicas" => return Ok(Asked::Replicas),
            "--speculate" => {
                request.get_or_insert_default().guesses = Some(LOOKUP);
                continue;
            }
            "--experts" => {
                request.get_or_insert_default().blocks = other::request().blocks;
                continue;
            }
            _ => {}
        }
        let value = args.next().ok_or(format!("{flag} has no value"))?;
        match flag.as_str() {
            "--prompt" => request.get_or_insert_default().prompt = value,
            "--seed" => request.get_or_insert_default().seed = value.parse()?,
            "--regex" => request.get_or_insert_default().regex = Some(Automaton::of(&value)?),
            "--units" => request.get_or_insert_default().units = Some(Units::of(&value)?),
            "--serve" => address = Some(value),
            _ => return Err(format!("there is no flag {flag}").into()),
        }
    }
    Ok(match (address, request) {
        (Some(address), _) => Asked::Serve(address),
        (None, Some(request)) => Asked::Story(Box::new(request)),
        (None, None) => Asked::All,
    })
}
