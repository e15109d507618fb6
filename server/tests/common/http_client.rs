//! HTTP/1.1 over a socket that the test has in its hands: it can stop in the middle of anything.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tokio::net::TcpSocket;
use tokio::runtime::Builder;

/// Longer than any answer takes on a busy machine: a server that says nothing is an error.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that the system takes in for a client that reads nothing. Linux has no smaller buffer.
const SMALL_BUFFER: u32 = 2304;

/// One connection.
pub struct Connection {
    stream: BufReader<TcpStream>,
}

/// The status line and the headers of an answer.
#[derive(Debug)]
pub struct Head {
    pub status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    fn is_chunked(&self) -> bool {
        self.header("transfer-encoding") == Some("chunked")
    }
}

impl Connection {
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        Self::with_patience(TcpStream::connect(address)?)
    }

    /// A connection that takes in little before it is read, so that the server must wait.
    pub fn open_narrow(address: SocketAddr) -> io::Result<Self> {
        // Only tokio sets the size before it connects, and later is too late.
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let stream = runtime.block_on(async {
            let socket = TcpSocket::new_v4()?;
            socket.set_recv_buffer_size(SMALL_BUFFER)?;
            socket.connect(address).await?.into_std()
        })?;
        stream.set_nonblocking(false)?;
        Self::with_patience(stream)
    }

    fn with_patience(stream: TcpStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        // A small one, so that a slow reader is slow for the system too.
        Ok(Self { stream: BufReader::with_capacity(512, stream) })
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    pub fn get(&mut self, path: &str) -> io::Result<()> {
        self.write(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes())
    }

    pub fn post(&mut self, path: &str, body: &str) -> io::Result<()> {
        self.write(&post(path, body))
    }

    /// Reads the head of an answer.
    pub fn head(&mut self) -> io::Result<Head> {
        let line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| wrong(&line))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                return Ok(Head { status, headers });
            }
            let (key, value) = line.split_once(':').ok_or_else(|| wrong(&line))?;
            headers.push((key.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// Reads the next chunk of a chunked body; none after the last.
    pub fn chunk(&mut self) -> io::Result<Option<String>> {
        let line = self.line()?;
        let length = usize::from_str_radix(&line, 16).map_err(|_| wrong(&line))?;
        let text = self.text(length)?;
        let end = self.line()?;
        if !end.is_empty() {
            return Err(wrong(&end));
        }
        Ok((length > 0).then_some(text))
    }

    /// Reads the whole body.
    pub fn body(&mut self, head: &Head) -> io::Result<String> {
        if !head.is_chunked() {
            let length = head.header("content-length").and_then(|length| length.parse().ok());
            return self.text(length.ok_or_else(|| wrong("no length"))?);
        }
        let mut text = String::new();
        while let Some(chunk) = self.chunk()? {
            text += &chunk;
        }
        Ok(text)
    }

    /// Reads an answer.
    pub fn answer(&mut self) -> io::Result<(Head, String)> {
        let head = self.head()?;
        let body = self.body(&head)?;
        Ok((head, body))
    }

    /// Reads up to so many bytes, whatever they are; fewer at the end of the connection.
    pub fn bytes(&mut self, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.stream.by_ref().take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn text(&mut self, length: usize) -> io::Result<String> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| wrong("a body that is not UTF-8"))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end_matches("\r\n").to_owned())
    }
}

/// A request with a JSON body, as it is on the wire.
pub fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The data of each server-sent event.
pub fn events(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect()
}

fn wrong(found: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not HTTP: {found:?}"))
}
