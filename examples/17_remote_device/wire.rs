//! A stretch of network on this machine: it passes bytes on after a delay, and counts them.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// What went over a [`Wire`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes to the server.
    pub sent: usize,
    /// Bytes from the server.
    pub received: usize,
    /// How often the server sent something after it was sent something: the times that the client may
    /// have waited for the wire.
    pub round_trips: usize,
}

#[derive(Default)]
struct Counts {
    sent: AtomicUsize,
    received: AtomicUsize,
    round_trips: AtomicUsize,
    /// Whether the last bytes went to the server.
    asked: AtomicBool,
}

/// A server's second address, from which bytes come later. Of a real network it has the latency only: no
/// byte is lost, and any number fits through at once.
pub struct Wire {
    /// Where clients connect.
    pub address: SocketAddr,
    counts: Arc<Counts>,
}

impl Wire {
    /// A wire to the server, on which each byte takes `delay` in either direction.
    ///
    /// # Errors
    /// No free port.
    pub fn new(server: SocketAddr, delay: Duration) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, counts) = (listener.local_addr()?, Arc::<Counts>::default());
        let shared = counts.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client whose server is gone sees its connection end.
                let _ = connect(client, server, delay, &shared);
            }
        });
        Ok(Self { address, counts })
    }

    /// What went over it so far.
    pub fn traffic(&self) -> Traffic {
        let Counts { sent, received, round_trips, .. } = &*self.counts;
        Traffic {
            sent: sent.load(SeqCst),
            received: received.load(SeqCst),
            round_trips: round_trips.load(SeqCst),
        }
    }
}

impl std::ops::Sub for Traffic {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            received: self.received - before.received,
            round_trips: self.round_trips - before.round_trips,
        }
    }
}

fn connect(
    client: TcpStream,
    server: SocketAddr,
    delay: Duration,
    counts: &Arc<Counts>,
) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    // Small messages at once: the delay is the wire's alone.
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (there, back) = (counts.clone(), counts.clone());
    pass_on(client.try_clone()?, server.try_clone()?, delay, move |bytes| {
        there.sent.fetch_add(bytes, SeqCst);
        there.asked.store(true, SeqCst);
    });
    pass_on(server, client, delay, move |bytes| {
        back.received.fetch_add(bytes, SeqCst);
        back.round_trips.fetch_add(back.asked.swap(false, SeqCst).into(), SeqCst);
    });
    Ok(())
}

/// One direction. The reader never waits for the delay, or it would limit the bytes a second too.
fn pass_on(
    mut from: TcpStream,
    mut to: TcpStream,
    delay: Duration,
    count: impl Fn(usize) + Send + 'static,
) {
    let (chunks, delayed) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            count(read);
            if chunks.send((Instant::now() + delay, buffer[..read].to_vec())).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, bytes) in delayed {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        // Either end is told that the other is gone.
        let _ = to.shutdown(Shutdown::Both);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_as_they_were_sent_and_are_counted() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let wire = Wire::new(server.local_addr().unwrap(), Duration::from_millis(1)).unwrap();
        let echo = thread::spawn(move || {
            let (mut client, _) = server.accept().unwrap();
            let mut word = [0; 4];
            for _ in 0..3 {
                client.read_exact(&mut word).unwrap();
                client.write_all(&[word, word].concat()).unwrap();
            }
        });
        let mut client = TcpStream::connect(wire.address).unwrap();
        for _ in 0..3 {
            client.write_all(b"word").unwrap();
            let mut answer = [0; 8];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"wordword");
        }
        assert_eq!(wire.traffic(), Traffic { sent: 12, received: 24, round_trips: 3 });
        echo.join().unwrap();
        assert_eq!(client.read(&mut [0]).unwrap(), 0, "the server's end is not passed on");
    }
}
