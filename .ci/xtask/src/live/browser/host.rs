//! A server for the files of a folder, since a page that is a file may load no WebAssembly.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Component, Path};
use std::thread;

use anyhow::Result;

pub struct Host {
    address: String,
}

impl Host {
    /// Serves a folder on a free port of this machine, until the program ends.
    pub fn start(folder: &Path) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let folder = folder.to_owned();
        thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let folder = folder.clone();
                // A browser that closes a connection has no more to ask.
                thread::spawn(move || answer(stream, &folder).ok());
            }
        });
        Ok(Self { address })
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }
}

/// Answers one request, and closes the connection.
fn answer(mut stream: TcpStream, folder: &Path) -> Result<()> {
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1).unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let found = is_inside.then(|| fs::read(folder.join(path)).ok()).flatten();
    let kind = kind(Path::new(path));
    let (status, body) = match (found, path) {
        (Some(body), _) => ("200 OK", body),
        // A browser asks for it by itself.
        (None, "favicon.ico") => ("204 No Content", Vec::new()),
        (None, _) => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
         cache-control: max-age=600\r\nconnection: close\r\n\r\n"
    )?;
    stream.write_all(&body)?;
    Ok(())
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
