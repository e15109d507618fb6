//! Replicas and the router in front of them.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::time::{Instant, sleep};

use super::router::{PLACES, Policy, Router, url};
use crate::server::Server;

/// How long a router may take to find its replicas, and a replica to load its model.
const START: Duration = Duration::from_secs(60);

/// What a cluster is made of.
#[derive(Debug, Clone)]
pub struct Setup {
    pub router: Router,
    pub router_program: Option<PathBuf>,
    pub router_flags: Vec<String>,
    /// The program of a replica, and its flags.
    pub program: PathBuf,
    pub flags: Vec<String>,
    pub policy: Policy,
    /// The port of the router; 0 takes a free one.
    pub port: u16,
}

impl Setup {
    /// The programs with their flags, in a line.
    pub fn describe(&self) -> String {
        let with = |name: &str, flags: &[String]| [&[name.to_owned()], flags].concat().join(" ");
        format!(
            "`{}` in front of replicas, `{}`",
            with(self.router.name(), &self.router_flags),
            with("16_server", &self.flags)
        )
    }
}

/// Replicas and a router, which end with it.
pub struct Cluster {
    setup: Setup,
    pub http: reqwest::Client,
    /// By their places; none where there is none yet, or none any more.
    pub replicas: Vec<Option<Server>>,
    places: Vec<u16>,
    pub router: Server,
    /// Of the router: its own, and that of its metrics.
    ports: [u16; 2],
}

impl Cluster {
    /// Starts `count` replicas and the router, and waits until the router knows all of them.
    pub async fn start(setup: &Setup, count: usize) -> Result<Self> {
        ensure!(
            (1..=PLACES).contains(&count),
            "from 1 to {PLACES} replicas are started on one machine, not {count}"
        );
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build()?;
        let mut free = free_ports(PLACES + 2)?;
        let places = free.split_off(2);
        if setup.port != 0 {
            free[0] = setup.port;
        }
        let ports = [free[0], free[1]];
        let mut replicas = Vec::new();
        for &place in &places[..count] {
            replicas.push(Some(start_replica(setup, place)?));
        }
        for replica in replicas.iter_mut().flatten() {
            until_ready(&http, replica).await?;
        }
        replicas.resize_with(PLACES, || None);
        let program = setup.router_program.as_deref();
        let mut command = setup.router.command(program, setup.policy, ports, (&places, count))?;
        command.args(&setup.router_flags);
        let router = Server::at(command, url(ports[0])).with_context(|| setup.router.missing())?;
        let setup = setup.clone();
        let mut cluster = Self { setup, http, replicas, places, router, ports };
        cluster.until_routed(count).await?;
        Ok(cluster)
    }

    /// Waits until the router sends requests to `count` replicas.
    pub async fn until_routed(&mut self, count: usize) -> Result<()> {
        let start = Instant::now();
        loop {
            self.router.check()?;
            let found = self.setup.router.ready(&self.http, self.ports).await;
            if found.as_ref().is_ok_and(|&found| found == count) {
                return Ok(());
            }
            ensure!(
                start.elapsed() < START,
                "after {} seconds {} has {found:?} of {count} replicas",
                START.as_secs(),
                self.setup.router.name()
            );
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Starts one more replica, and tells the router. Returns its place.
    pub async fn add(&mut self) -> Result<usize> {
        let place = self.replicas.iter().position(Option::is_none).context("no place is left")?;
        let (setup, port) = (self.setup.clone(), self.places[place]);
        // It blocks until the replica has said where it is.
        let started = tokio::task::spawn_blocking(move || start_replica(&setup, port));
        let mut replica = started.await??;
        until_ready(&self.http, &mut replica).await?;
        self.replicas[place] = Some(replica);
        self.setup.router.add(&self.http, self.ports[0], port).await?;
        Ok(place)
    }

    /// Kills a replica: it gets no chance to say anything.
    pub fn kill(&mut self, place: usize) -> Result<()> {
        // Dropped, it is killed.
        self.replicas[place].take().context("there is no such replica")?;
        Ok(())
    }

    /// Asks a replica to drain, and waits until its process has ended.
    pub async fn drain(&mut self, place: usize) -> Result<()> {
        let mut replica = self.replicas[place].take().context("there is no such replica")?;
        terminate(&replica)?;
        ended(&mut replica).await
    }

    /// Fails if a process has ended by itself.
    pub fn check(&mut self) -> Result<()> {
        self.router.check()?;
        self.replicas.iter_mut().flatten().try_for_each(Server::check)
    }

    /// Ends all: the router first, so that nothing is sent to a replica that is gone.
    pub async fn stop(mut self) -> Result<()> {
        // Ctrl-C in a terminal has reached them too, and a second signal changes nothing.
        terminate(&self.router)?;
        for replica in self.replicas.iter_mut().flatten() {
            terminate(replica)?;
        }
        for replica in self.replicas.iter_mut().flatten() {
            ended(replica).await?;
        }
        Ok(())
    }
}

/// `count` ports that are free now. Nobody else takes one so soon.
fn free_ports(count: usize) -> Result<Vec<u16>> {
    // All are held at once, so that they differ.
    let held: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
    held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

fn start_replica(setup: &Setup, port: u16) -> Result<Server> {
    let mut command = Command::new(&setup.program);
    command.args(["--port", &port.to_string(), "--log", "error"]).args(&setup.flags);
    // All requests come from one client, the router.
    command.args(["--max-connections-per-client", "1024"]);
    Server::announced(command)
}

async fn until_ready(http: &reqwest::Client, replica: &mut Server) -> Result<()> {
    let start = Instant::now();
    loop {
        replica.check()?;
        let answer = http.get(format!("{}/ready", replica.url)).send().await;
        if answer.is_ok_and(|answer| answer.status().is_success()) {
            return Ok(());
        }
        ensure!(start.elapsed() < START, "the replica at {} does not get ready", replica.url);
        sleep(Duration::from_millis(20)).await;
    }
}

/// SIGTERM, which the standard library cannot send.
fn terminate(server: &Server) -> Result<()> {
    Command::new("kill").args(["-TERM", &server.id().to_string()]).status()?;
    Ok(())
}

/// Waits until the process has ended.
async fn ended(server: &mut Server) -> Result<()> {
    let start = Instant::now();
    while server.check().is_ok() {
        ensure!(start.elapsed() < START, "the server at {} does not end", server.url);
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
