//! One connection: from a request to its texts.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};
use std::{mem, thread};

use crate::broken::{Watch, call, caught, fail};
use crate::http::{self, Asked, Unreadable};
use crate::parts::{Parts, Reader, Refusal, Slots};
use crate::server::{Job, Shared};
use crate::story::{Request, Story};
use crate::wire::{self, Choice, Usage, Wanted};

/// How long a client may say nothing, and how long it may not read.
const SILENCE: Duration = Duration::from_secs(10);
const STANDSTILL: Duration = Duration::from_secs(60);

/// Bytes of a refused request that are read all the same.
const UNREAD: u64 = 1 << 20;

const JSON: &str = "application/json";

const HEALTHY: &str = "{\"status\":\"ok\"}\n";

/// Reads a request and answers it.
pub(crate) fn serve(shared: &Arc<Shared>, mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(STANDSTILL))?;
    stream.set_nodelay(true)?;
    let Asked { method, path, body } = match http::read(&stream) {
        Ok(asked) => asked,
        Err(Unreadable::Gone) => return Ok(()),
        Err(Unreadable::Refused(status, why)) => return refuse(&mut stream, status, why, None),
    };
    match (method.as_str(), path.as_str()) {
        ("POST", "/v1/completions") => complete(shared, &mut stream, &body),
        ("GET", "/health") => {
            http::write_head(&mut stream, 200, JSON, Some(HEALTHY.len()), None)?;
            stream.write_all(HEALTHY.as_bytes())
        }
        (_, "/v1/completions") => refuse(&mut stream, 405, "send it with POST", None),
        _ => refuse(&mut stream, 404, "there is only /v1/completions, and /health", None),
    }
}

fn refuse(stream: &mut TcpStream, status: u16, why: &str, wait: Option<u64>) -> io::Result<()> {
    let body = wire::error(why) + "\n";
    http::write_head(stream, status, JSON, Some(body.len()), wait)?;
    stream.write_all(body.as_bytes())?;
    // A connection that is closed with something unread takes the answer with it.
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let _ = io::copy(&mut stream.take(UNREAD), &mut io::sink());
    Ok(())
}

fn complete(shared: &Arc<Shared>, stream: &mut TcpStream, body: &[u8]) -> io::Result<()> {
    let Wanted { texts, stream: streamed } = match wire::wanted(body) {
        Ok(wanted) => wanted,
        Err(why) => return refuse(stream, 400, &why, None),
    };
    let (model, vocabulary) = &*shared.engine;
    let request = &texts[0];
    let prompt = vocabulary.prompt(&shared.parts, model.config.bos, &request.prompt);
    let most = shared.settings.room.most().min(model.config.context);
    // A client may ask for any number.
    if prompt.len().saturating_add(request.max_tokens) > most {
        let why = format!(
            "{} tokens of the prompt and max_tokens {} are more than the {most} that a text may have",
            prompt.len(),
            request.max_tokens
        );
        return refuse(stream, 400, &why, None);
    }
    let admit = || shared.queue.admit(texts.len(), shared.per_slot());
    let mut slots = match call("full_queue", admit) {
        Ok(slots) => Held(Some(slots)),
        Err(Refusal::Full { retry_after }) => {
            return refuse(stream, 429, "the queue is full: come again later", Some(retry_after));
        }
        Err(Refusal::TooLarge) => {
            let why = format!("n must be {} at most", shared.settings.slots);
            return refuse(stream, 400, &why, None);
        }
    };
    let mut answer = Answer::submit(shared, texts, &prompt);
    if streamed {
        answer.stream(stream, &mut slots)
    } else {
        answer.whole(stream, &mut slots)
    }
}

/// The slots of a request, which are free when it has ended.
struct Held(Option<Box<dyn Slots>>);

impl Held {
    fn end_one(&mut self) {
        if let Some(slots) = &mut self.0 {
            call("full_queue", || slots.end_one());
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let slots = self.0.take();
        if thread::panicking() {
            // A part broke, and this one may: twice at once would end the program.
            mem::forget(slots);
        } else {
            call("full_queue", || drop(slots));
        }
    }
}

/// The texts of one request, as they come.
struct Answer<'a> {
    shared: &'a Arc<Shared>,
    begun: Instant,
    /// The pieces of all texts, each with the number of its text. `None` ends a text.
    pieces: Receiver<(usize, Option<String>)>,
    done: Vec<Receiver<Story>>,
    usage: Usage,
}

impl<'a> Answer<'a> {
    fn submit(shared: &'a Arc<Shared>, texts: Vec<Request>, prompt: &[u32]) -> Self {
        // A client that doesn't read keeps all texts of its request waiting.
        let (sender, pieces) = mpsc::sync_channel(1);
        let submit = |(index, request)| {
            let (opened, opens) = mpsc::channel();
            let (done, story) = mpsc::channel();
            let job = Job { request, prompt: prompt.to_vec(), opened, done };
            // Where the model has stopped, all texts end here.
            let _ = shared.jobs.send(job);
            let (shared, sender) = (shared.clone(), sender.clone());
            thread::spawn(move || forward(&shared, index, &opens, &sender));
            story
        };
        Self {
            shared,
            begun: Instant::now(),
            done: texts.into_iter().enumerate().map(submit).collect(),
            pieces,
            usage: Usage {
                prompt_tokens: prompt.len(),
                completion_tokens: 0,
                total_tokens: prompt.len(),
            },
        }
    }

    /// A text has ended: its story, or nothing where the model has stopped.
    fn ended(&mut self, index: usize) -> Option<Story> {
        let story = self.done[index].recv().ok()?;
        self.usage.completion_tokens += story.ids.len();
        self.usage.total_tokens += story.ids.len();
        self.shared.ended(self.begun);
        Some(story)
    }

    /// Sends each piece as an event, as it comes.
    fn stream(&mut self, stream: &mut TcpStream, slots: &mut Held) -> io::Result<()> {
        http::write_head(stream, 200, "text/event-stream", None, None)?;
        let shared = self.shared;
        let parts = &shared.parts;
        let mut open = self.done.len();
        while open > 0 {
            let Ok((index, piece)) = self.pieces.recv() else {
                break;
            };
            let mut choice = Choice { index, text: String::new(), finish_reason: None };
            if let Some(piece) = piece {
                choice.text = piece;
            } else if let Some(story) = self.ended(index) {
                slots.end_one();
                open -= 1;
                choice.finish_reason = Some(wire::finish_reason(story.end));
            } else {
                let error = event(parts, Some("error"), &wire::error(STOPPED));
                return stream.write_all(error.as_bytes());
            }
            let chunk = event(parts, None, &wire::completion(vec![choice], None));
            stream.write_all(chunk.as_bytes())?;
        }
        let last = event(parts, None, &wire::last_chunk(self.usage));
        stream.write_all(last.as_bytes())?;
        stream.write_all(event(parts, None, "[DONE]").as_bytes())
    }

    /// Sends all texts at once, when the last of them has ended.
    fn whole(&mut self, stream: &mut TcpStream, slots: &mut Held) -> io::Result<()> {
        let mut texts = vec![String::new(); self.done.len()];
        let mut choices = Vec::new();
        while choices.len() < texts.len() {
            match self.pieces.recv() {
                Ok((index, Some(piece))) => texts[index].push_str(&piece),
                Ok((index, None)) => {
                    let Some(story) = self.ended(index) else {
                        return refuse(stream, 500, STOPPED, None);
                    };
                    slots.end_one();
                    choices.push(Choice {
                        index,
                        text: mem::take(&mut texts[index]),
                        finish_reason: Some(wire::finish_reason(story.end)),
                    });
                }
                Err(_) => return refuse(stream, 500, STOPPED, None),
            }
        }
        choices.sort_by_key(|choice| choice.index);
        let body = wire::completion(choices, Some(self.usage)) + "\n";
        http::write_head(stream, 200, JSON, Some(body.len()), None)?;
        stream.write_all(body.as_bytes())
    }
}

const STOPPED: &str = "the engine stopped: its terminal says why";

/// A server-sent event.
fn event(parts: &Parts, name: Option<&str>, data: &str) -> String {
    let event = parts.ask_exactly("sse_encode", "an event", |parts| (parts.sse_event)(name, data));
    match event {
        Some(event) => event,
        None => fail("sse_encode", format!("refuses the data {data:?}")),
    }
}

/// Hands the pieces of one text on, until it ends or nobody wants them.
fn forward(
    shared: &Shared,
    index: usize,
    opens: &Receiver<Reader>,
    pieces: &SyncSender<(usize, Option<String>)>,
) {
    let _watch = Watch::begin();
    let read = caught("token_stream", || {
        for piece in opens.recv().into_iter().flatten() {
            if pieces.send((index, Some(piece))).is_err() {
                return;
            }
        }
    });
    if let Err(broken) = read {
        let _ = shared.broken.send(broken);
    }
    let _ = pieces.send((index, None));
}
