//! A network between a client and the server that can be slow, full of holes, or gone.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the network does to the bytes of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Each piece takes so long, in both directions.
    Delay(Duration),
    /// Nothing gets through any more, and nobody is told: packets are lost, or the other end has no
    /// power.
    Partition,
}

/// A proxy in front of a server, on the loopback interface.
pub struct FaultyProxy {
    pub address: SocketAddr,
    fault: Arc<Mutex<Option<Fault>>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
    ended: Arc<AtomicBool>,
}

impl FaultyProxy {
    /// In front of the server at `to`, at `address`; port 0 is a free one.
    pub fn start(address: &str, to: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let proxy = Self {
            address: listener.local_addr()?,
            fault: Arc::default(),
            open: Arc::default(),
            ended: Arc::default(),
        };
        let (fault, open, ended) = (proxy.fault.clone(), proxy.open.clone(), proxy.ended.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if ended.load(Ordering::Acquire) {
                    break;
                }
                let Ok(server) = TcpStream::connect(to) else {
                    continue;
                };
                for (from, into) in [(&client, &server), (&server, &client)] {
                    let (from, into) = (from.try_clone().unwrap(), into.try_clone().unwrap());
                    let fault = fault.clone();
                    thread::spawn(move || pass_on(from, into, &fault));
                }
                open.lock().unwrap().extend([client, server]);
            }
        });
        Ok(proxy)
    }

    /// What happens to all bytes from now on.
    pub fn set(&self, fault: Option<Fault>) {
        *self.fault.lock().unwrap() = fault;
    }

    /// Ends like a process that is killed: all connections break, on both sides.
    pub fn kill(self) {
        self.ended.store(true, Ordering::Release);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // The listener notices with its next connection.
        let _ = TcpStream::connect(self.address);
    }
}

/// Passes bytes on, piece by piece, until one side ends.
fn pass_on(mut from: TcpStream, mut into: TcpStream, fault: &Mutex<Option<Fault>>) {
    let mut piece = [0; 4096];
    let fault = || *fault.lock().unwrap();
    loop {
        if fault() == Some(Fault::Partition) {
            // Bytes that nobody reads pile up in the buffers of the system, as on a dead wire.
            thread::sleep(Duration::from_millis(5));
            continue;
        }
        let read = from.read(&mut piece).unwrap_or(0);
        match fault() {
            Some(Fault::Delay(time)) => thread::sleep(time),
            // It began while this waited for bytes.
            Some(Fault::Partition) if read > 0 => continue,
            _ => {}
        }
        if read == 0 || into.write_all(&piece[..read]).is_err() {
            let _ = into.shutdown(Shutdown::Write);
            return;
        }
    }
}
