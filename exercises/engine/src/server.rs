//! Several texts over HTTP: a thread for each connection, and one for the model.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::batch::{Batch, Room, Step};
use crate::broken::{Broken, Watch, call, caught, watched};
use crate::connection;
use crate::matrix::Bits;
use crate::model::Model;
use crate::parts::{Parts, Queue, Reader};
use crate::sequence::Submission;
use crate::story::{LIMIT, Request, Story};
use crate::vocabulary::Vocabulary;

/// What a server has room for.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub room: Room,
    /// Texts that run or wait.
    pub slots: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            room: Room { token_budget: 32, max_running: 8, blocks: 512 },
            slots: 16,
        }
    }
}

/// What all threads of a server share.
pub(crate) struct Shared {
    pub engine: Arc<(Model, Vocabulary)>,
    pub parts: Parts,
    pub settings: Settings,
    pub queue: Box<dyn Queue>,
    pub jobs: Sender<Job>,
    pub broken: Sender<Broken>,
    /// How long it took of late until a slot was free.
    per_slot: Mutex<Duration>,
    /// Those of the connections. A thread keeps its own until it ends.
    watches: Mutex<Vec<Weak<Watch>>>,
}

impl Shared {
    pub fn per_slot(&self) -> Duration {
        *self.per_slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A text has ended that was begun then: as many as run at once end in that time.
    pub fn ended(&self, begun: Instant) {
        let per_slot = begun.elapsed() / self.settings.room.max_running as u32;
        *self.per_slot.lock().unwrap_or_else(PoisonError::into_inner) = per_slot;
    }

    /// Watches the parts that this thread of a connection calls from now on.
    fn watch(&self) {
        let watch = Arc::downgrade(&Watch::begin());
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|watch| watch.strong_count() > 0);
        watches.push(watch);
    }

    /// A part that a connection has called, and that has been at work for longer than `limit`. One that
    /// waits for its client or for the model is inside no part.
    fn stuck(&self, limit: Duration) -> Option<Broken> {
        let watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.iter().filter_map(Weak::upgrade).find_map(|watch| watch.stuck(limit))
    }
}

/// A text, on its way to the thread of the model.
pub(crate) struct Job {
    pub request: Request,
    pub prompt: Vec<u32>,
    /// Gets the end of the stream that the reader has.
    pub opened: Sender<Reader>,
    pub done: Sender<Story>,
}

/// A server that takes requests. It ends with the program.
pub struct Server {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    /// None once the model computes.
    jobs: Option<Receiver<Job>>,
    broken: Receiver<Broken>,
    watch: Option<Arc<Watch>>,
}

/// Why there is no server, or no more.
#[derive(Debug)]
pub enum Stopped {
    Broken(Broken),
    /// An address that cannot be had, or a connection that breaks.
    Other(String),
}

/// Pieces that may wait for a reader.
const WAITING: usize = 4;

impl Server {
    /// Takes requests at an address. None of them is computed before [`Self::compute`].
    ///
    /// # Errors
    /// An address that cannot be had, and a queue that breaks.
    pub fn start(
        engine: Arc<(Model, Vocabulary)>,
        parts: Parts,
        address: &str,
        settings: Settings,
    ) -> Result<Self, Stopped> {
        let cannot = |error| Stopped::Other(format!("cannot listen at {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let new = parts.queue;
        let queue = watched("full_queue", LIMIT, move || new(settings.slots));
        let queue = queue.map_err(Stopped::Broken)?;
        let (jobs, to_compute) = mpsc::channel();
        let (broken, breaks) = mpsc::channel();
        let shared = Arc::new(Shared {
            engine,
            parts,
            settings,
            queue,
            jobs,
            broken,
            per_slot: Mutex::new(Duration::from_secs(1)),
            watches: Mutex::default(),
        });
        let accepting = shared.clone();
        thread::spawn(move || accept(&listener, &accepting));
        Ok(Self {
            address,
            shared,
            jobs: Some(to_compute),
            broken: breaks,
            watch: None,
        })
    }

    /// Computes what was asked for, and what will be.
    pub fn compute(&mut self) {
        let Some(jobs) = self.jobs.take() else {
            return;
        };
        let shared = self.shared.clone();
        let (begun, begins) = mpsc::channel();
        thread::spawn(move || {
            let _ = begun.send(Watch::begin());
            if let Err(broken) = caught("one_step", || run(&shared, &jobs)) {
                let _ = shared.broken.send(broken);
            }
        });
        self.watch = begins.recv().ok();
    }

    /// Slots that are free.
    pub fn free(&self) -> usize {
        call("full_queue", || self.shared.queue.free())
    }

    /// Waits until a part breaks, for so long at most.
    pub fn wait(&self, at_most: Duration, limit: Duration) -> Option<Broken> {
        let begun = Instant::now();
        loop {
            match self.broken.recv_timeout(Duration::from_millis(20)) {
                Ok(broken) => return Some(broken),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let model = self.watch.as_ref().and_then(|watch| watch.stuck(limit));
            if let Some(stuck) = model.or_else(|| self.shared.stuck(limit)) {
                return Some(stuck);
            }
            if begun.elapsed() > at_most {
                return None;
            }
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Too many files are open, for example: later there may be fewer.
            thread::sleep(Duration::from_millis(100));
            continue;
        };
        let shared = shared.clone();
        let serve = move || {
            // What breaks is kept, and reported by the thread that waits for it.
            shared.watch();
            let served: Result<io::Result<()>, Broken> =
                caught("full_queue", || connection::serve(&shared, stream));
            if let Err(broken) = served {
                let _ = shared.broken.send(broken);
            }
        };
        // Where there can be no more threads, the connection is closed.
        let _ = thread::Builder::new().name("connection".into()).spawn(serve);
    }
}

/// The thread of the model: one step after the other, and between them new texts.
fn run(shared: &Shared, jobs: &Receiver<Job>) {
    let (model, vocabulary) = &*shared.engine;
    let network = model.packed(&shared.parts, Bits::All);
    let mut batch = Batch::new(&network, vocabulary, &shared.parts, shared.settings.room);
    loop {
        match batch.step() {
            Step::Computed => {}
            Step::Waits => thread::sleep(Duration::from_millis(1)),
            Step::Empty => match jobs.recv() {
                Ok(job) => submit(&shared.parts, &mut batch, job),
                Err(_) => return,
            },
        }
        for job in jobs.try_iter() {
            submit(&shared.parts, &mut batch, job);
        }
    }
}

fn submit(parts: &Parts, batch: &mut Batch<'_>, job: Job) {
    let Job { request, prompt, opened, done } = job;
    let (sink, reader) = call("token_stream", || (parts.token_stream)(WAITING));
    // A client that has gone has no use for it: the first piece says so.
    let _ = opened.send(reader);
    let done = Box::new(move |story| {
        let _ = done.send(story);
    });
    batch.submit(Submission { request, prompt, sink, done });
}
