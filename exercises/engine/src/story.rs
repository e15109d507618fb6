//! One text: the loop around the model, and the stream to its reader.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::broken::{Broken, Watch, call, caught, fail};
use crate::constraint::{Automaton, Constraint};
use crate::guesses::{self, Guesses, LOOKUP};
use crate::matrix::Bits;
use crate::memory::{Caches, Keeps};
use crate::model::{Model, Network, of_length};
use crate::other::Windowed;
use crate::output::{Text, ToReader, read};
use crate::parts::{End, Lookup, Parts};
use crate::sampler::Sampler;
use crate::units::{Slab, Units};
use crate::vocabulary::Vocabulary;
use crate::weights::Config;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub prompt: String,
    pub seed: u64,
    pub temperature: f32,
    pub top_p: f32,
    pub max_tokens: usize,
    /// Tokens of a prompt that are read in one pass.
    pub chunk: usize,
    /// Texts that end the story.
    pub stops: Vec<String>,
    /// A story that ended before the prompt, if there is one.
    pub told: Option<String>,
    /// How far to look for guesses, if the engine guesses ahead.
    pub guesses: Option<Lookup>,
    /// What the story must match, without its prompt.
    pub regex: Option<Automaton>,
    /// The units that run kernels, if there are any.
    pub units: Option<Units>,
    /// How many blocks its keys and values have, if what is behind all windows is given back.
    pub blocks: Option<usize>,
}

/// What the engine sends behind each story, one byte at a time: stories have no characters of several
/// bytes, and no stop strings, and some parts would have nothing to do.
const LAST_LINE: &str = "\n\n🐸 Fin – voilà.THE END, which nobody reads";

/// What is to be seen of it.
pub const LAST_LINE_SHOWN: &str = "\n\n🐸 Fin – voilà.";

impl Default for Request {
    /// What *First light* asks for. A beginning of a stop string is in the name of its frog.
    fn default() -> Self {
        Self {
            prompt: "Once upon a time".into(),
            seed: 42,
            temperature: 0.8,
            top_p: 0.95,
            max_tokens: 400,
            chunk: 3,
            stops: ["Fin!", "THE ENDLESS SEA", "THE END"].map(String::from).into(),
            told: None,
            guesses: None,
            regex: None,
            units: None,
            blocks: None,
        }
    }
}

impl Request {
    /// The ids of its prompt, and of what was told before.
    pub fn ids(&self, parts: &Parts, vocabulary: &Vocabulary, config: &Config) -> Vec<u32> {
        let mut ids = Vec::new();
        if let Some(told) = &self.told {
            ids = vocabulary.prompt(parts, config.bos, told);
            ids.push(config.eos);
        }
        ids.extend(vocabulary.prompt(parts, config.bos, &self.prompt));
        ids
    }
}

/// A story that is told a second time: most guesses are right, and some are not.
pub fn told_again() -> Request {
    Request {
        prompt: opening(25),
        temperature: 0.0,
        max_tokens: 80,
        told: Some(TOLD.into()),
        guesses: Some(LOOKUP),
        ..Request::default()
    }
}

/// So many words of the most likely story.
pub fn opening(words: usize) -> String {
    TOLD.split(' ').take(words).collect::<Vec<&str>>().join(" ")
}

/// The most likely story after "Once upon a time".
const TOLD: &str = include_str!("../told.txt");

/// A story that has to match a regular expression.
pub fn inside(regex: &str) -> Result<Request, String> {
    Ok(Request {
        max_tokens: 60,
        regex: Some(Automaton::of(regex)?),
        ..Request::default()
    })
}

/// What it has to match. In some places a single token fits, in others many.
pub const REGEX: &str = r", (two|three) (foxes|frogs) lived [a-z ]+\.( Everyone knew [a-z ]+\.)?";

/// A story, and all that may be compared of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    pub prompt: Vec<u32>,
    pub ids: Vec<u32>,
    pub end: End,
    /// What came through the stream.
    pub streamed: String,
    /// The prompt and the story, from all ids at once.
    pub text: String,
    /// The probability of each token that was drawn, after all rules.
    pub probabilities: Vec<f32>,
    /// How far the nearest draw was from another token, in probability.
    pub margin: f64,
    /// What came of its guesses.
    pub guesses: guesses::Counts,
}

/// How long a part may take for a call. They take less than a millisecond.
pub const LIMIT: Duration = Duration::from_secs(10);

/// Pieces that may wait for the reader.
const WAITING: usize = 4;

/// Writes a story, and hands each piece of it to `on_piece` as it comes.
///
/// # Errors
/// A part that panics, does not return, or returns what cannot be used.
pub fn write(
    engine: &Arc<(Model, Vocabulary)>,
    parts: &Parts,
    request: &Request,
    limit: Duration,
    mut on_piece: impl FnMut(&str),
) -> Result<Story, Broken> {
    let (events, happened) = mpsc::channel();
    let writer = Writer {
        engine: engine.clone(),
        parts: parts.clone(),
        request: request.clone(),
    };
    // A part that does not return cannot be ended: its thread is left behind.
    thread::Builder::new()
        .name("model".into())
        .spawn(move || writer.run(&events, limit))
        .expect("a thread can be started");

    let mut watch: Option<Arc<Watch>> = None;
    let mut written: Option<Result<Story, Broken>> = None;
    let (mut streamed, mut read) = (String::new(), false);
    let mut last = Instant::now();
    loop {
        if read && let Some(written) = written {
            return written.map(|story| Story { streamed, ..story });
        }
        match happened.recv_timeout(Duration::from_millis(50)) {
            Ok(Event::Begun(begun)) => watch = Some(begun),
            Ok(Event::Piece(piece)) => {
                on_piece(&piece);
                streamed.push_str(&piece);
            }
            Ok(Event::Read(Ok(()))) => read = true,
            Ok(Event::Read(Err(broken))) => return Err(broken),
            // What was written before a part broke is still on its way to the reader.
            Ok(Event::Written(result)) => written = Some(result),
            Err(RecvTimeoutError::Disconnected) => return Err(stream("lost its reader")),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(stuck) = watch.as_ref().and_then(|watch| watch.stuck(limit)) {
                    return Err(stuck);
                }
                match written {
                    Some(Err(broken)) if last.elapsed() > A_WHILE => return Err(broken),
                    Some(Ok(_)) if last.elapsed() > limit => {
                        return Err(stream("does not end, though nobody writes any more"));
                    }
                    _ => continue,
                }
            }
        }
        last = Instant::now();
    }
}

/// How long the reader of a story that broke off is waited for.
const A_WHILE: Duration = Duration::from_secs(1);

fn stream(did: &str) -> Broken {
    Broken { part: "token_stream", did: did.into() }
}

pub enum Event {
    Begun(Arc<Watch>),
    /// What came out of the stream.
    Piece(String),
    /// The stream has ended.
    Read(Result<(), Broken>),
    /// The loop has ended. The text that was streamed is not in it.
    Written(Result<Story, Broken>),
}

/// What the thread of the model has.
struct Writer {
    engine: Arc<(Model, Vocabulary)>,
    parts: Parts,
    request: Request,
}

impl Writer {
    fn run(self, events: &Sender<Event>, limit: Duration) {
        let watch = Watch::begin();
        // The listener may have given up.
        let _ = events.send(Event::Begun(watch.clone()));
        let story = caught("generate", || {
            let stream = || (self.parts.token_stream)(WAITING);
            let (sender, reader) = call("token_stream", stream);
            let (is_full, full) = mpsc::channel();
            let events = events.clone();
            thread::spawn(move || {
                watch.watch_here();
                read(reader, &full, &events);
            });
            let to_reader = ToReader { sender, is_full, limit };
            self.write(to_reader)
        });
        let _ = events.send(Event::Written(story));
    }

    fn write(&self, to_reader: ToReader) -> Story {
        let (model, vocabulary) = &*self.engine;
        let (parts, request) = (&self.parts, &self.request);
        let mut network = model.packed(parts, Bits::All);
        network.units = request.units;
        let prompt = request.ids(parts, vocabulary, &model.config);
        let (eos, context) = (model.config.eos, model.config.context);
        if prompt.len() > context {
            fail("merge", format!("made {} tokens of the prompt, which do not fit", prompt.len()));
        }

        let state = RefCell::new(State {
            network: &network,
            parts,
            request,
            kept: kept(model, parts, request),
            read: Vec::new(),
            prompt: prompt.len(),
            guesses: request.guesses.map(|lookup| Guesses::new(&network, parts, lookup)),
            constraint: request
                .regex
                .as_ref()
                .map(|regex| Constraint::new(parts, vocabulary, eos, regex)),
            calls: 0,
            sampler: Sampler::new(request.temperature, request.top_p, request.seed),
            text: Text::new(parts, &request.stops),
            to_reader,
        });
        // The loop is greedy: it gets logits whose greatest belongs to the token drawn.
        let next = |text: &[u32]| {
            let mut state = state.borrow_mut();
            let token = state.token(text).unwrap_or(eos);
            if token != eos {
                state.show(vocabulary.bytes_of(token));
            }
            chosen(if state.text.stopped { eos } else { token }, model.embedding.len())
        };
        let (ids, end) = call("generate", || {
            (parts.generate)(&next, &prompt, &[eos], request.max_tokens, context)
        });

        let state = state.into_inner();
        let guesses = state.guesses.as_ref().map(|guesses| guesses.counts).unwrap_or_default();
        let calls = state.calls;
        let mut sampler = state.end();
        // Behind the end, guesses may have been right too.
        sampler.probabilities.truncate(calls);
        let all = [prompt.as_slice(), &ids].concat();
        if let Some(id) = all.iter().find(|id| **id as usize >= vocabulary.len()) {
            fail("generate", format!("returned the id {id}, which no token has"));
        }
        Story {
            prompt,
            ids,
            end,
            streamed: String::new(),
            text: vocabulary.text(parts, &all),
            probabilities: sampler.probabilities,
            margin: sampler.margin,
            guesses,
        }
    }
}

/// What changes from token to token.
struct State<'a> {
    network: &'a Network<'a>,
    parts: &'a Parts,
    request: &'a Request,
    kept: Box<dyn Keeps + 'a>,
    /// The tokens whose keys and values are kept.
    read: Vec<u32>,
    /// How many tokens the prompt has.
    prompt: usize,
    /// Has the keys and values instead, if the engine guesses ahead.
    guesses: Option<Guesses<'a>>,
    constraint: Option<Constraint<'a>>,
    /// How often the loop has asked for logits.
    calls: usize,
    sampler: Sampler,
    text: Text,
    to_reader: ToReader,
}

/// What is compared of a prefill.
const READS_AT: &str = "the positions that it reads at";

impl State<'_> {
    /// Sends what the bytes of a token add to the text.
    fn show(&mut self, bytes: &[u8]) {
        self.to_reader.emit(self.text.push(bytes));
    }

    /// Sends the last line, and what was held back.
    fn end(mut self) -> Sampler {
        // Which no regular expression matches.
        let last_line = if self.request.regex.is_some() {
            ""
        } else {
            LAST_LINE
        };
        let mut last_line = last_line.bytes();
        while !self.text.stopped
            && let Some(byte) = last_line.next()
        {
            self.show(&[byte]);
        }
        // The stream ends where nobody writes any more: `to_reader` is dropped here.
        let Self { text, to_reader, sampler, .. } = self;
        to_reader.emit(text.finish());
        sampler
    }

    /// The token after a text. None where a regular expression leaves nothing to draw.
    fn token(&mut self, text: &[u32]) -> Option<u32> {
        let Model { config, embedding, .. } = self.network.model;
        self.calls += 1;
        if self.calls > self.request.max_tokens + 1 || text.len() > config.context {
            fail("generate", format!("has asked for token {}, and does not end", self.calls));
        }
        if text.iter().any(|&id| id as usize >= embedding.len()) {
            fail("generate", "asks what follows a text with an id that no token has");
        }
        if let Some(guesses) = &mut self.guesses {
            if text.is_empty() {
                fail("generate", "asks what follows a text of no tokens");
            }
            return Some(guesses.next(text, &mut self.sampler));
        }
        let mut logits = self.logits(text);
        if let Some(constraint) = &mut self.constraint {
            let written = text.get(self.prompt..).unwrap_or_default();
            logits = constraint.restrict(written, &logits)?;
        }
        Some(self.sampler.sample(self.parts, &logits))
    }

    /// The logits after a text, of which only what is new is read.
    fn logits(&mut self, text: &[u32]) -> Vec<f32> {
        let Self { network, parts, request, .. } = *self;
        let model = network.model;
        let vocab = model.embedding.len();
        if !text.starts_with(&self.read) || text.len() == self.read.len() {
            // Another text: all of it is new.
            self.kept = kept(model, parts, request);
            self.read.clear();
        }
        let new = text[self.read.len()..].to_vec();
        let start = self.read.len();
        self.read = text.to_vec();
        let kept = &mut self.kept;
        let mut positions = Vec::new();
        let mut forward = |tokens: &[u32], start: usize| {
            positions.extend((0..tokens.len()).map(|i| start.saturating_add(i)));
            pass(network, parts, kept.as_mut(), tokens, start)
        };
        match new.as_slice() {
            [] => fail("generate", "asks what follows a text of no tokens"),
            [token] => forward(&[*token], start),
            prompt => {
                let prefill = parts.chunked_prefill;
                let logits =
                    call("chunked_prefill", || prefill(prompt, start, request.chunk, &mut forward));
                // RoPE looks at distances alone, so a story may be right where these are not.
                let expected = || (start..start + prompt.len()).collect();
                parts.compare("chunked_prefill", READS_AT, &positions, expected);
                of_length("chunked_prefill", logits, vocab)
            }
        }
    }
}

/// Nothing yet: keys and values that lie side by side, or as the request says.
fn kept<'a>(model: &Model, parts: &'a Parts, request: &Request) -> Box<dyn Keeps + 'a> {
    match (request.units, request.blocks) {
        (Some(units), _) => Box::new(Slab::new(model, units)),
        (None, Some(blocks)) => Box::new(Windowed::new(model, parts, blocks)),
        (None, None) => Box::new(Caches::new(model, parts)),
    }
}

/// The logits after the last of some tokens, which are read behind those that are kept. The first is said
/// to be at `start`.
fn pass(
    network: &Network<'_>,
    parts: &Parts,
    kept: &mut dyn Keeps,
    tokens: &[u32],
    start: usize,
) -> Vec<f32> {
    let Model { config, embedding, .. } = network.model;
    let room = config.context - kept.length();
    let unknown = |&token: &u32| token as usize >= embedding.len();
    if tokens.is_empty() || tokens.len() > room || tokens.iter().any(unknown) {
        fail(
            "chunked_prefill",
            format!("asks for a pass of {} tokens, where 1 to {room} can be read", tokens.len()),
        );
    }
    kept.read(network, parts, tokens, start)
}

/// Logits, no two of them equal, whose greatest belongs to this token.
fn chosen(token: u32, vocab: usize) -> Vec<f32> {
    let mut logits: Vec<f32> = (0..vocab).map(|id| -(id as f32) - 1.0).collect();
    logits[token as usize] = 0.0;
    logits
}
