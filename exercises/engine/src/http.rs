//! As much of HTTP/1.1 as `curl` and a browser need: one request for each connection.

use std::io::{self, BufRead, BufReader, Read, Write};

/// A request, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub body: Vec<u8>,
}

/// Why there is no request.
#[derive(Debug)]
pub enum Unreadable {
    /// The connection is gone, or says nothing for too long.
    Gone,
    /// This status, and what is wrong.
    Refused(u16, &'static str),
}

impl From<io::Error> for Unreadable {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// Bytes of all lines before a body, and of a body.
const HEAD: u64 = 16 << 10;
const BODY: usize = 64 << 10;

/// Reads a request.
///
/// # Errors
/// A connection that is gone, and what is no request, or too long.
pub fn read(connection: impl Read) -> Result<Asked, Unreadable> {
    let mut connection = BufReader::new(connection);
    let mut head = connection.by_ref().take(HEAD);
    let first = line(&mut head)?;
    let mut words = first.split(' ');
    let (Some(method), Some(path), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Unreadable::Refused(400, "this is no request of HTTP/1.1"));
    };
    let path = path.split('?').next().unwrap_or(path);
    let mut length = 0;
    loop {
        let header = line(&mut head)?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or((&header, ""));
        if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(Unreadable::Refused(411, "a body needs a Content-Length"));
        }
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(usize::MAX);
        }
    }
    if length > BODY {
        return Err(Unreadable::Refused(413, "a body has 65536 bytes at most"));
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    Ok(Asked { method: method.to_owned(), path: path.to_owned(), body })
}

/// A line without its end.
fn line(head: &mut impl BufRead) -> Result<String, Unreadable> {
    let mut line = Vec::new();
    head.read_until(b'\n', &mut line)?;
    match line.strip_suffix(b"\n") {
        Some(line) => {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            Ok(String::from_utf8_lossy(line).into_owned())
        }
        None if line.is_empty() => Err(Unreadable::Gone),
        None => Err(Unreadable::Refused(431, "the lines before the body have 16384 bytes at most")),
    }
}

/// Writes the lines before a body, which ends where the connection does. `length` is the body's, if
/// it is known.
///
/// # Errors
/// A connection that is gone.
pub fn write_head(
    connection: &mut impl Write,
    status: u16,
    kind: &str,
    length: Option<usize>,
    retry_after: Option<u64>,
) -> io::Result<()> {
    let reason = match status {
        200 => "OK",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        _ => "Bad Request",
    };
    let length = length.map_or(String::new(), |length| format!("Content-Length: {length}\r\n"));
    let retry = retry_after.map_or(String::new(), |wait| format!("Retry-After: {wait}\r\n"));
    write!(
        connection,
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\n{length}{retry}Connection: close\r\n\r\n"
    )?;
    connection.flush()
}
