//! The loop around the model, the sampler, and the stream to the reader.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::broken::{Broken, Watch, call, caught, fail};
use crate::model::{Caches, Model, of_length};
use crate::parts::{Decode, Emit, Emitted, End, Filter, Parts, Reader};
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

/// The reader begins when the stream is full, so that the model has to wait. A stream that is never
/// full, or that blocks then, it does not wait for longer than this.
const LATE: Duration = Duration::from_secs(1);

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

enum Event {
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
        // Whoever listens may have given up.
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
            let output = Output::new(&self.parts, &self.request, to_reader);
            self.write(output)
        });
        let _ = events.send(Event::Written(story));
    }

    fn write(&self, output: Output) -> Story {
        let (model, vocabulary) = &*self.engine;
        let (parts, request) = (&self.parts, &self.request);
        let mut prompt = vec![model.config.bos];
        prompt.extend(vocabulary.encode(parts, &request.prompt));
        let (eos, context) = (model.config.eos, model.config.context);
        if prompt.len() > context {
            fail("merge", format!("made {} tokens of the prompt, which do not fit", prompt.len()));
        }

        let state = RefCell::new(State {
            model,
            parts,
            request,
            caches: model.caches(parts),
            read: Vec::new(),
            generator: ChaCha12Rng::seed_from_u64(request.seed),
            calls: 0,
            probabilities: Vec::new(),
            margin: f64::INFINITY,
            output,
        });
        // The loop is greedy: it gets logits of which the greatest is that of the token drawn.
        let next = |text: &[u32]| {
            let mut state = state.borrow_mut();
            let logits = state.logits(text);
            let token = state.sample(&logits);
            let stopped = token != eos && state.output.push(vocabulary.bytes_of(token));
            chosen(if stopped { eos } else { token }, logits.len())
        };
        let (ids, end) = call("generate", || {
            (parts.generate)(&next, &prompt, &[eos], request.max_tokens, context)
        });

        let State { mut output, probabilities, margin, .. } = state.into_inner();
        let mut last_line = LAST_LINE.bytes();
        while !output.stopped
            && let Some(byte) = last_line.next()
        {
            output.push(&[byte]);
        }
        output.finish();
        let all: Vec<u32> = prompt.iter().chain(&ids).copied().collect();
        if let Some(id) = all.iter().find(|id| **id as usize >= vocabulary.len()) {
            fail("generate", format!("returned the id {id}, which no token has"));
        }
        let text = call("detokenize", || {
            (parts.detokenize)(&all, &vocabulary.bytes(), vocabulary.special())
        });
        Story {
            prompt,
            ids,
            end,
            streamed: String::new(),
            text,
            probabilities,
            margin,
        }
    }
}

/// What changes from token to token.
struct State<'a> {
    model: &'a Model,
    parts: &'a Parts,
    request: &'a Request,
    caches: Caches,
    /// The tokens whose keys and values are in the caches.
    read: Vec<u32>,
    generator: ChaCha12Rng,
    /// How often the loop has asked for logits.
    calls: usize,
    probabilities: Vec<f32>,
    margin: f64,
    output: Output,
}

/// What is compared of a prefill.
const READS_AT: &str = "the positions that it reads at";

impl State<'_> {
    /// The logits after a text, of which only what is new is read.
    fn logits(&mut self, text: &[u32]) -> Vec<f32> {
        let Self { model, parts, request, .. } = *self;
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
            self.caches = model.caches(parts);
            self.read.clear();
        }
        let new = text[self.read.len()..].to_vec();
        let start = self.read.len();
        self.read = text.to_vec();
        let caches = &mut self.caches;
        let mut positions = Vec::new();
        let mut forward = |tokens: &[u32], start: usize| {
            positions.extend((0..tokens.len()).map(|i| start.saturating_add(i)));
            let room = model.config.context - caches.length;
            if tokens.is_empty()
                || tokens.len() > room
                || tokens.iter().any(|&t| t as usize >= vocab)
            {
                fail(
                    "chunked_prefill",
                    format!(
                        "asks for a pass of {} tokens, where 1 to {room} can be read",
                        tokens.len()
                    ),
                );
            }
            model.forward(parts, tokens, start, caches)
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

    // ANCHOR: sample
    /// Draws a token. The points come from the generator of the crate.
    fn sample(&mut self, logits: &[f32]) -> u32 {
        let Self { parts, request, .. } = *self;
        let vocab = logits.len();
        let probabilities = parts
            .ask("at_temperature", |parts| (parts.at_temperature)(logits, request.temperature));
        let probabilities = match probabilities {
            Ok(probabilities) => of_length("at_temperature", probabilities, vocab),
            Err(refused) => {
                let temperature = request.temperature;
                fail("at_temperature", format!("refused {temperature}: {refused}"))
            }
        };
        let left = parts.ask("nucleus", |parts| (parts.nucleus)(&probabilities, request.top_p));
        let left = of_length("nucleus", left, vocab);
        if !left.iter().any(|&probability| probability > 0.0) {
            fail("nucleus", "leaves no token");
        }
        let point = (self.generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let token = parts.ask("draw", |parts| (parts.draw)(&left, point));
        if token >= vocab {
            fail("draw", format!("drew token {token} of {vocab}"));
        }
        self.probabilities.push(left[token]);
        self.margin = self.margin.min(distance(&left, point));
        token as u32
    }
    // ANCHOR_END: sample
}

/// The way of a text to its reader.
struct Output {
    decoder: Box<dyn Decode>,
    filter: Box<dyn Filter>,
    to_reader: ToReader,
    stopped: bool,
}

impl Output {
    fn new(parts: &Parts, request: &Request, to_reader: ToReader) -> Self {
        let stops: Vec<&str> = request.stops.iter().map(String::as_str).collect();
        Self {
            decoder: call("incremental_decode", parts.decoder),
            filter: call("stop_strings", || (parts.stop_filter)(&stops)),
            to_reader,
            stopped: false,
        }
    }

    /// Takes the bytes of a token. Returns whether a stop string is complete.
    fn push(&mut self, bytes: &[u8]) -> bool {
        let characters = call("incremental_decode", || self.decoder.push(bytes));
        let (text, stopped) = call("stop_strings", || self.filter.push(&characters));
        self.to_reader.emit(text);
        self.stopped |= stopped;
        stopped
    }

    /// What was held back comes now, and then the end of the stream.
    fn finish(self) {
        let Self { decoder, mut filter, to_reader, stopped } = self;
        let rest = call("incremental_decode", || decoder.finish());
        if stopped {
            return;
        }
        let (text, _) = call("stop_strings", || filter.push(&rest));
        let held = call("stop_strings", || filter.finish());
        to_reader.emit(text + &held);
    }
}

/// The way to the reader.
struct ToReader {
    sender: Box<dyn Emit>,
    /// Hears of a stream that is full.
    is_full: Sender<()>,
    limit: Duration,
}

impl ToReader {
    /// Gives a piece to the reader, as soon as there is room for it.
    fn emit(&self, mut piece: String) {
        let begun = Instant::now();
        while !piece.is_empty() {
            match call("token_stream", || self.sender.emit(piece)) {
                Emitted::Sent => return,
                Emitted::Gone => fail("token_stream", "says that nobody reads, but somebody does"),
                Emitted::Behind(same) => piece = same,
            }
            // Only the first time somebody waits for it.
            let _ = self.is_full.send(());
            if begun.elapsed() > self.limit {
                fail("token_stream", "stays full, though somebody reads");
            }
            thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Reads a stream to its end. To wait is right here, so nobody watches how long it takes.
fn read(stream: Reader, full: &Receiver<()>, events: &Sender<Event>) {
    let read = caught("token_stream", || {
        // Or the text is complete, and the writer has gone.
        let _ = full.recv_timeout(LATE);
        for piece in stream {
            // Whoever listens may have given up.
            let _ = events.send(Event::Piece(piece));
        }
    });
    let _ = events.send(Event::Read(read));
}

/// Logits, no two of them equal, of which the greatest is that of this token.
fn chosen(token: u32, vocab: usize) -> Vec<f32> {
    let mut logits: Vec<f32> = (0..vocab).map(|id| -(id as f32) - 1.0).collect();
    logits[token as usize] = 0.0;
    logits
}

/// How far a point is from the nearest place where another token would be drawn.
fn distance(probabilities: &[f32], point: f64) -> f64 {
    let total: f64 = probabilities.iter().copied().map(f64::from).sum();
    let ends = probabilities.iter().scan(0.0, |sum, &probability| {
        *sum += f64::from(probability) / total;
        Some(*sum)
    });
    // The end of the line is no such place.
    let between = ends.filter(|end| *end < 1.0 - 1e-9);
    between.map(|end| (end - point).abs()).fold(f64::INFINITY, f64::min)
}
