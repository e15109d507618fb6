//! A connection that is closed so that its client can read the last answer.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How long a client may send nothing before it is closed for good.
const SILENCE: Duration = Duration::from_secs(1);

/// How long a client may send what nobody will read.
const LONGEST: Duration = Duration::from_secs(10);

/// Bytes that are thrown away at once.
const CHUNK: usize = 16 << 10;

/// How far a connection has come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// It has asked something, and not all of the answer is sent.
    is_served: AtomicBool,
    /// The last request has not been read to its end.
    has_unread: AtomicBool,
}

impl Progress {
    pub(super) fn begin(&self) {
        self.is_served.store(true, Ordering::Relaxed);
    }

    pub(super) fn leave_unread(&self) {
        self.has_unread.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_served(&self) -> bool {
        self.is_served.load(Ordering::Relaxed)
    }
}

/// A stream that is closed in two steps: first it says that nothing more is written, and then it
/// reads what the other side still sends.
///
/// If the system has bytes that nobody has read when a connection is closed, it tells the other side
/// that the connection is broken, and the answer is lost with it.
pub(super) struct Lingering<S> {
    stream: S,
    progress: Arc<Progress>,
    end: Option<End>,
}

/// The time after everything was written.
struct End {
    silence: Pin<Box<Sleep>>,
    deadline: Instant,
}

impl<S> Lingering<S> {
    pub(super) fn new(stream: S, progress: Arc<Progress>) -> Self {
        Self { stream, progress, end: None }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lingering<S> {
    /// Reads what is there, and waits for more as long as there may be some.
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(end) = &mut self.end else {
            return Poll::Ready(());
        };
        let mut bytes = [0; CHUNK];
        loop {
            let mut read = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut read) {
                Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                    self.progress.leave_unread();
                    let now = Instant::now();
                    if now >= end.deadline {
                        return Poll::Ready(());
                    }
                    end.silence.as_mut().reset((now + SILENCE).min(end.deadline));
                }
                // Its end, or a failure.
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending if self.progress.has_unread.load(Ordering::Relaxed) => {
                    return end.silence.as_mut().poll(context);
                }
                Poll::Pending => return Poll::Ready(()),
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.end.is_none() {
            self.progress.is_served.store(false, Ordering::Relaxed);
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            let deadline = Instant::now() + LONGEST;
            self.end = Some(End { silence: Box::pin(sleep(SILENCE)), deadline });
        }
        self.poll_rest(context).map(Ok)
    }

    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        read: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, read)
    }
}
