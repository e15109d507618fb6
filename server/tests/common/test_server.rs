//! The server, in the process of the test.

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use slowburn_server::{Server, ServerError, Settings, use_one_arena};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::http_client::Connection;

/// A server of the bundled model, on a port that was free.
pub struct TestServer {
    pub address: SocketAddr,
    runtime: Runtime,
    shutdown: Option<oneshot::Sender<()>>,
    run: JoinHandle<Result<(), ServerError>>,
}

impl TestServer {
    /// Starts a server with these flags, and waits until it is ready.
    pub fn start(flags: &[&str]) -> Self {
        use_one_arena();
        let arguments = ["test", "--port", "0"].iter().chain(flags);
        let settings = Settings::load(arguments.map(OsString::from)).unwrap();
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            // A thread that has nothing to do is gone at once, so that those that stay are leaks.
            .thread_keep_alive(Duration::from_millis(10))
            .enable_all()
            .build()
            .unwrap();
        let server = runtime.block_on(Server::bind(settings)).unwrap();
        let address = server.address();
        let (shutdown, told) = oneshot::channel::<()>();
        let run = runtime.spawn(server.run(async {
            let _ = told.await;
        }));
        let server = Self { address, runtime, shutdown: Some(shutdown), run };
        wait_until("the server is ready", || server.status("/ready") == 200);
        server
    }

    pub fn connect(&self) -> Connection {
        Connection::open(self.address).unwrap()
    }

    /// Asks once, over a connection of its own.
    pub fn ask(&self, path: &str, body: &str) -> (u16, String) {
        let mut connection = self.connect();
        connection.post(path, body).unwrap();
        let (head, body) = connection.answer().unwrap();
        (head.status, body)
    }

    fn status(&self, path: &str) -> u16 {
        let mut connection = self.connect();
        connection.get(path).unwrap();
        connection.answer().unwrap().0.status
    }

    pub fn metrics(&self) -> Metrics {
        let mut connection = self.connect();
        connection.get("/metrics").unwrap();
        Metrics(connection.answer().unwrap().1)
    }

    /// How many tasks of the runtime have not ended.
    pub fn tasks(&self) -> usize {
        self.runtime.metrics().num_alive_tasks()
    }

    /// Says that the server is to end, and returns at once.
    pub fn shut_down(&mut self) {
        let _ = self.shutdown.take().unwrap().send(());
    }

    /// Whether the server takes no new connections.
    pub fn refuses_connections(&self) -> bool {
        let refused = Connection::open(self.address).err();
        refused.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    }

    /// Waits until `run` has returned.
    pub fn join(self) -> Result<(), ServerError> {
        let Self { runtime, run, .. } = self;
        runtime.block_on(run).unwrap()
    }
}

/// What `/metrics` said.
pub struct Metrics(String);

impl Metrics {
    /// The value of a metric, with its labels if it has some; 0 where nothing was counted yet.
    pub fn get(&self, name: &str) -> f64 {
        let mut lines = self.0.lines().filter_map(|line| line.rsplit_once(' '));
        lines.find(|(key, _)| *key == name).map_or(0.0, |(_, value)| value.parse().unwrap())
    }

    /// How many sequences have ended for this reason.
    pub fn finished(&self, reason: &str) -> f64 {
        self.get(&format!("slowburn_sequences_finished_total{{finish_reason=\"{reason}\"}}"))
    }

    /// Whether no sequence is left, and none holds memory.
    pub fn is_idle(&self) -> bool {
        [
            "sequences_running",
            "sequences_paused",
            "sequences_waiting",
            "kv_blocks_used",
        ]
        .iter()
        .all(|name| self.get(&format!("slowburn_{name}")) == 0.0)
    }
}

/// Waits for what is to come, as long as it takes on a busy machine.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(120), "still not so: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
