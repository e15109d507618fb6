//! Several texts over HTTP, asked for by the engine itself: more than its queue holds.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::broken::watched;
use crate::model::Model;
use crate::parts::Parts;
use crate::server::{Server, Settings, Stopped};
use crate::several;
use crate::story::Request;
use crate::vocabulary::Vocabulary;

/// As in the batch of [`several`], with a queue of five.
pub const SETTINGS: Settings = Settings { room: several::ROOM, slots: 5 };

/// How a request was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    pub status: u16,
    pub retry_after: Option<u64>,
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.retry_after {
            Some(wait) => write!(f, "{}, Retry-After {wait}", self.status),
            None => write!(f, "{}", self.status),
        }
    }
}

/// What a request asks for, and how it has to be answered.
pub struct Asked {
    pub body: String,
    pub for_texts: usize,
    pub expected: Answered,
}

/// What came of the requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub answered: Vec<Answered>,
    /// The texts of the first requests, or what is wrong with their streams.
    pub texts: Vec<Result<String, String>>,
    /// Slots that are free at the end.
    pub free: usize,
}

/// The body of a request for texts with seeds from the one in `request` on.
pub fn body(request: &Request, n: usize) -> String {
    let Request { prompt, seed, temperature, top_p, max_tokens, stops, .. } = request;
    serde_json::json!({
        "prompt": prompt, "seed": seed, "temperature": temperature, "top_p": top_p,
        "max_tokens": max_tokens, "stop": stops, "n": n, "stream": true,
    })
    .to_string()
}

/// The requests, in their order: three texts, which take three of five slots; two that are refused, one for
/// now and one for good; one that takes the rest, and one behind it.
pub fn requests() -> Vec<Asked> {
    let asked = |request: &Request, for_texts, status, retry_after| Asked {
        body: body(request, for_texts),
        for_texts,
        expected: Answered { status, retry_after },
    };
    let short = several::request("The storm", 1, 2);
    let texts = several::arrivals().into_iter().take(TEXTS);
    let texts = texts.map(|arrival| asked(&arrival.request, 1, 200, None));
    let others = [
        // Two slots are missing, and a slot is free in a second, as far as is known before the first text.
        asked(&short, 4, 429, Some(2)),
        asked(&short, 6, 400, None),
        asked(&short, 2, 200, None),
        asked(&short, 1, 429, Some(1)),
    ];
    texts.chain(others).collect()
}

/// How many of the texts are compared.
pub const TEXTS: usize = 3;

/// Until when it is noticed that a client has gone: a text takes a fraction of that.
const NOTICED: Duration = Duration::from_secs(3);

/// Serves, and asks.
///
/// # Errors
/// An address that cannot be had, a connection that breaks, and a part that does.
pub fn ask(
    engine: &Arc<(Model, Vocabulary)>,
    parts: &Parts,
    limit: Duration,
) -> Result<Found, Stopped> {
    let mut server = Server::start(engine.clone(), parts.clone(), "127.0.0.1:0", SETTINGS)?;
    // Watched, since the queue is asked here too.
    let asked = watched("full_queue", limit, move || {
        let found = ask_all(&mut server, limit);
        (server, found)
    });
    let (server, found) = asked.map_err(Stopped::Broken)?;
    let at_most = match &found {
        Ok(_) => Duration::ZERO,
        // A part that does not return may have been called after the client began to wait.
        Err(error) if is_late(error) => limit,
        // A connection that ends early is what comes of a part that broke.
        Err(_) => Duration::from_secs(1),
    };
    match server.wait(at_most, limit) {
        Some(broken) => Err(Stopped::Broken(broken)),
        None => found.map_err(|error| {
            Stopped::Other(format!("the engine does not answer itself over HTTP: {error}"))
        }),
    }
}

/// Whether a client has waited for its limit, for which systems have one of these names.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn ask_all(server: &mut Server, limit: Duration) -> io::Result<Found> {
    let address = server.address;
    // Before the model computes, so that none has ended when the last of them comes.
    let mut replies = Vec::new();
    for asked in requests() {
        replies.push(Reply::to(address, &asked.body, limit)?);
    }
    server.compute();
    let mut answered: Vec<Answered> = replies.iter().map(|reply| reply.answered).collect();
    let mut texts = Vec::new();
    for reply in replies {
        if reply.answered.status == 200 {
            texts.push(of_events(&reply.rest()?));
        }
    }
    texts.truncate(TEXTS);
    // Now all slots are free, and one request takes them all.
    let all =
        Reply::to(address, &body(&several::request("The storm", 1, 2), SETTINGS.slots), limit)?;
    answered.push(all.answered);
    all.rest()?;
    // A client that goes, and nobody says when that was noticed.
    drop(Reply::to(address, &body(&several::request("The storm", 1, 40), 1), limit)?);
    let begun = Instant::now();
    while server.free() < SETTINGS.slots && begun.elapsed() < NOTICED {
        thread::sleep(Duration::from_millis(5));
    }
    Ok(Found { answered, texts, free: server.free() })
}

/// The answer to a request, of which only the head has been read.
pub struct Reply {
    pub answered: Answered,
    connection: BufReader<TcpStream>,
}

impl Reply {
    /// Sends a request, and reads the head of the answer.
    ///
    /// # Errors
    /// A connection that breaks, or says nothing for `limit`.
    pub fn to(address: SocketAddr, body: &str, limit: Duration) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(limit))?;
        write!(
            stream,
            "POST /v1/completions HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut connection = BufReader::new(stream);
        let mut answered = Answered { status: 0, retry_after: None };
        loop {
            let mut line = String::new();
            connection.read_line(&mut line)?;
            if let Some(status) = line.strip_prefix("HTTP/1.1 ") {
                answered.status = status.get(..3).and_then(|code| code.parse().ok()).unwrap_or(0);
            }
            if let Some(wait) = line.strip_prefix("Retry-After: ") {
                answered.retry_after = wait.trim().parse().ok();
            }
            if line.trim().is_empty() {
                return Ok(Self { answered, connection });
            }
        }
    }

    /// The body.
    ///
    /// # Errors
    /// A connection that breaks.
    pub fn rest(mut self) -> io::Result<String> {
        let mut body = Vec::new();
        self.connection.read_to_end(&mut body)?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

/// The text of the first choice in a stream of events.
///
/// # Errors
/// What is wrong with the stream.
pub fn of_events(body: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut ended = false;
    for event in body.split_terminator("\n\n") {
        let mut lines = Vec::new();
        for line in event.split('\n') {
            match line.strip_prefix("data: ") {
                Some(data) => lines.push(data),
                None => return Err(format!("a line of an event is {line:?}")),
            }
        }
        let data = lines.join("\n");
        if data == "[DONE]" {
            ended = true;
            continue;
        }
        let chunk: serde_json::Value = serde_json::from_str(&data)
            .map_err(|error| format!("the data of an event is no JSON, {error}: {data:?}"))?;
        let choice = &chunk["choices"][0];
        if choice["index"] == 0 {
            text += choice["text"].as_str().unwrap_or_default();
        }
    }
    if ended {
        Ok(text)
    } else {
        Err("the stream ends without [DONE]".into())
    }
}
