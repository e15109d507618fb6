//! One text: the loop around the model, and the stream to its reader.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::broken::{Broken, Watch, call, caught, fail};
use crate::matrix::Bits;
use crate::memory::Caches;
use crate::model::{Chunk, Model, Network, of_length};
use crate::output::{Text, ToReader, read};
use crate::parts::{End, Parts};
use crate::sampler::Sampler;
use crate::vocabulary::Vocabulary;

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
        }
    }
}

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
        let network = model.packed(parts, Bits::All);
        let prompt = vocabulary.prompt(parts, model.config.bos, &request.prompt);
        let (eos, context) = (model.config.eos, model.config.context);
        if prompt.len() > context {
            fail("merge", format!("made {} tokens of the prompt, which do not fit", prompt.len()));
        }

        let state = RefCell::new(State {
            network: &network,
            parts,
            request,
            caches: Caches::new(model, parts),
            read: Vec::new(),
            calls: 0,
            sampler: Sampler::new(request.temperature, request.top_p, request.seed),
            text: Text::new(parts, &request.stops),
            to_reader,
        });
        // The loop is greedy: it gets logits whose greatest belongs to the token drawn.
        let next = |text: &[u32]| {
            let mut state = state.borrow_mut();
            let logits = state.logits(text);
            let token = state.sampler.sample(parts, &logits);
            if token != eos {
                state.show(vocabulary.bytes_of(token));
            }
            chosen(if state.text.stopped { eos } else { token }, logits.len())
        };
        let (ids, end) = call("generate", || {
            (parts.generate)(&next, &prompt, &[eos], request.max_tokens, context)
        });

        let sampler = state.into_inner().end();
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
        }
    }
}

/// What changes from token to token.
struct State<'a> {
    network: &'a Network<'a>,
    parts: &'a Parts,
    request: &'a Request,
    caches: Caches,
    /// The tokens whose keys and values are in the caches.
    read: Vec<u32>,
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
        let mut last_line = LAST_LINE.bytes();
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

    /// The logits after a text, of which only what is new is read.
    fn logits(&mut self, text: &[u32]) -> Vec<f32> {
        let Self { network, parts, request, .. } = *self;
        let model = network.model;
        let vocab = model.embedding.len();
        self.calls += 1;
        if self.calls > request.max_tokens + 1 || text.len() > model.config.context {
            fail("generate", format!("has asked for token {}, and does not end", self.calls));
        }
        if text.iter().any(|&id| id as usize >= vocab) {
            fail("generate", "asks what follows a text with an id that no token has");
        }
        if !text.starts_with(&self.read) || text.len() == self.read.len() {
            // Another text: all of it is new.
            self.caches = Caches::new(model, parts);
            self.read.clear();
        }
        let new = text[self.read.len()..].to_vec();
        let start = self.read.len();
        self.read = text.to_vec();
        let caches = &mut self.caches;
        let mut positions = Vec::new();
        let mut forward = |tokens: &[u32], start: usize| {
            positions.extend((0..tokens.len()).map(|i| start.saturating_add(i)));
            pass(network, parts, caches, tokens, start)
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

/// The logits after the last of some tokens, which are read behind those in the caches. The first is said
/// to be at `start`.
fn pass(
    network: &Network<'_>,
    parts: &Parts,
    caches: &mut Caches,
    tokens: &[u32],
    start: usize,
) -> Vec<f32> {
    let Model { config, embedding, .. } = network.model;
    let room = config.context - caches.length;
    let unknown = |&token: &u32| token as usize >= embedding.len();
    if tokens.is_empty() || tokens.len() > room || tokens.iter().any(unknown) {
        fail(
            "chunked_prefill",
            format!("asks for a pass of {} tokens, where 1 to {room} can be read", tokens.len()),
        );
    }
    let chunk = Chunk { tokens, start, wants_logits: true };
    let logits = network.forward(parts, &[chunk], caches);
    caches.length += tokens.len();
    logits.into_iter().flatten().flatten().collect()
}

/// Logits, no two of them equal, whose greatest belongs to this token.
fn chosen(token: u32, vocab: usize) -> Vec<f32> {
    let mut logits: Vec<f32> = (0..vocab).map(|id| -(id as f32) - 1.0).collect();
    logits[token as usize] = 0.0;
    logits
}
