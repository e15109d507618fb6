//! A hub on this machine, which can cut, stall, damage and refuse.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{COMMIT, NAME};
use crate::common::fixture;

/// One request for a file: its name, and from which byte on.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub file: String,
    pub from: usize,
    pub authorized: bool,
}

/// What the hub has, what it does, and what it was asked.
#[derive(Default)]
pub struct State {
    pub files: BTreeMap<String, Vec<u8>>,
    /// How many bytes the list gives to a file, where that is not what it has.
    pub claimed: BTreeMap<String, u64>,
    /// The architecture that the list names for GGUF files.
    pub architecture: Option<String>,
    /// How many weights the list counts in safetensors.
    pub parameters: Option<u64>,
    /// Every answer for a weight file ends after this many bytes, which is less than promised.
    pub cut_after: Option<usize>,
    /// Answers with the whole file whatever was asked for.
    pub ignores_ranges: bool,
    /// Every answer for a weight file stands still after this many bytes, as long as this is set.
    pub stall_after: Option<usize>,
    /// Every answer for a weight file goes on after its end with this many bytes, and does not say
    /// how many there are.
    pub surplus: usize,
    /// How many bytes of a surplus were sent before the other side hung up.
    pub surplus_sent: usize,
    /// Sends weight files with their last byte changed.
    pub damages: bool,
    pub gated: bool,
    /// Answers requests for the list of files with this status.
    pub status: Option<u16>,
    pub requests: Vec<Request>,
}

#[derive(Clone)]
pub struct Server {
    pub address: String,
    pub state: Arc<Mutex<State>>,
}

impl Server {
    pub fn start(files: BTreeMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { files, ..State::default() }));
        let server = Self { address, state };
        let answering = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // Whoever hung up has what it wanted.
                let _ = answering.answer(stream.unwrap());
            }
        });
        server
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// What was asked since the last time, but for one-byte requests for the size of a file.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state().requests)
    }

    pub fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut head = String::new();
        let mut reader = BufReader::new(stream.try_clone()?);
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let path = head.split(' ').nth(1).unwrap().to_owned();
        let head = head.to_lowercase();
        let authorized = head.contains("authorization: bearer secret");
        let range = head.split("range: bytes=").nth(1).and_then(|rest| rest.lines().next());
        match path.strip_prefix("/api/models/") {
            Some(path) => self.answer_list(&mut stream, path),
            None => self.answer_file(&mut stream, &path, range, authorized),
        }
    }

    pub fn answer_list(&self, stream: &mut TcpStream, path: &str) -> std::io::Result<()> {
        let state = self.state();
        if let Some(status) = state.status {
            return write!(stream, "HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n");
        }
        let known = ["main", "refs%2Fpr%2F1", COMMIT].map(|at| format!("{NAME}/revision/{at}"));
        if !known.iter().any(|known| path == format!("{known}?blobs=true")) {
            return write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
        let size =
            |name, bytes: &Vec<u8>| state.claimed.get(name).copied().unwrap_or(bytes.len() as u64);
        let files = state.files.iter();
        let siblings: Vec<_> = files
            .map(|(name, bytes)| json!({"rfilename": name, "size": size(name, bytes)}))
            .collect();
        let mut body = json!({"sha": COMMIT, "siblings": siblings, "private": false});
        if let Some(total) = state.parameters {
            body["safetensors"] = json!({"parameters": {"BF16": total}, "total": total});
        }
        if let Some(architecture) = &state.architecture {
            body["gguf"] = json!({"total": 1000, "architecture": architecture});
        }
        let body = body.to_string();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )
    }

    pub fn answer_file(
        &self,
        stream: &mut TcpStream,
        path: &str,
        range: Option<&str>,
        authorized: bool,
    ) -> std::io::Result<()> {
        let mut state = self.state();
        let file = path.strip_prefix(&format!("/{NAME}/resolve/{COMMIT}/"));
        let file = file.unwrap_or_else(|| panic!("asked for {path}"));
        if state.gated && !authorized {
            return write!(stream, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
        }
        let Some(bytes) = state.files.get(file).cloned() else {
            return write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        };
        let (from, to) = range.unwrap_or("0-").split_once('-').unwrap();
        let (mut from, to) =
            (from.parse().unwrap(), to.parse().map_or(bytes.len(), |to: usize| to + 1));
        let is_question_for_size = range == Some("0-0");
        if !is_question_for_size {
            state.requests.push(Request { file: file.to_owned(), from, authorized });
            if state.ignores_ranges {
                from = 0;
            }
        }
        if from >= bytes.len() {
            return write!(
                stream,
                "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n"
            );
        }
        let is_weights = file.ends_with(".safetensors");
        let etag = etag(file, &bytes);
        let mut body = bytes[from..to].to_vec();
        if state.damages && is_weights {
            *body.last_mut().unwrap() ^= 1;
        }
        let has_surplus = state.surplus > 0 && is_weights && !is_question_for_size;
        let length = if has_surplus {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nETag: \"{}\"\r\nX-Repo-Commit: {COMMIT}\r\n\
             Content-Range: bytes {from}-{}/{}\r\n{length}Connection: close\r\n\r\n",
            etag,
            to - 1,
            bytes.len(),
        )?;
        if has_surplus {
            stream.write_all(&body)?;
            let piece = [7; 1 << 16];
            for _ in 0..state.surplus / piece.len() {
                stream.write_all(&piece)?;
                state.surplus_sent += piece.len();
            }
            return Ok(());
        }
        if is_question_for_size || !is_weights {
            return stream.write_all(&body);
        }
        if let Some(n) = state.cut_after {
            return stream.write_all(&body[..n.min(body.len())]);
        }
        let Some(n) = state.stall_after else {
            return stream.write_all(&body);
        };
        drop(state);
        stream.write_all(&body[..n])?;
        while self.state().stall_after.is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// Weights have their SHA-256, as on the hub.
pub fn etag(file: &str, bytes: &[u8]) -> String {
    if file.ends_with(".safetensors") {
        format!("{:x}", Sha256::digest(bytes))
    } else {
        file.bytes().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The file in which the weights of the fixture model are as long as they are not whole.
pub fn part_of_weights() -> String {
    etag("model.safetensors", &tiny()["model.safetensors"]) + ".part"
}

/// The files of the fixture model.
pub fn tiny() -> BTreeMap<String, Vec<u8>> {
    let folder = fixture("models/llama-gqa");
    let files = [
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
    ];
    let mut files: BTreeMap<_, _> =
        files.map(|name| (name.to_owned(), std::fs::read(folder.join(name)).unwrap())).into();
    files.insert("README.md".to_owned(), b"not needed".to_vec());
    files
}
