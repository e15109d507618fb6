//! A router in front of several engines: which of them gets a request, and what becomes of a request that one does
//! not take.

use std::fmt;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::blocks::{BLOCK_SIZE, hash};
use crate::broken::{fail, watched};
use crate::model::Model;
use crate::parts::{
    Budget, Check, Failure, Health, NextAttempt, Parts, Replica, Thresholds, Weights,
};
use crate::served::{self, Reply};
use crate::server::{Server, Settings, Stopped};
use crate::several;
use crate::story::Request;
use crate::vocabulary::Vocabulary;

/// How a router chooses among the replicas that are up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// The one whose prefix cache has most of the prompt.
    Prefix,
    /// By a hash of how the prompt begins, with bounded loads.
    Hash,
}

impl Policy {
    pub const ALL: [Self; 2] = [Self::Prefix, Self::Hash];
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Prefix => "by prefix",
            Self::Hash => "by hash",
        })
    }
}

/// A replica is down after two checks that fail, and up again after one that passes.
const THRESHOLDS: Thresholds = Thresholds { fall: 2, rise: 1 };

const WEIGHTS: Weights = Weights { block: BLOCK_SIZE, imbalance: 2 };

/// How many percent of the mean a replica may have open, and its points on the ring.
const BOUND: usize = 125;
const POINTS: u32 = 8;

/// How long a replica may say nothing.
const SILENCE: Duration = Duration::from_secs(1);

struct Router<'a> {
    parts: &'a Parts,
    policy: Policy,
    addresses: Vec<SocketAddr>,
    health: Vec<Health>,
    replicas: Vec<Replica>,
    budget: Budget,
}

/// How a request was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routed {
    /// The replicas that were asked, one after the other.
    pub tried: Vec<usize>,
    pub status: u16,
}

impl fmt::Display for Routed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tried: Vec<String> = self.tried.iter().map(usize::to_string).collect();
        write!(f, "{}", tried.join(", then "))?;
        match self.status {
            200 => Ok(()),
            status => write!(f, ": {status}"),
        }
    }
}

impl<'a> Router<'a> {
    fn new(parts: &'a Parts, policy: Policy, addresses: Vec<SocketAddr>) -> Self {
        let count = addresses.len();
        Self {
            parts,
            policy,
            addresses,
            health: vec![Health { is_up: true, against: 0 }; count],
            replicas: vec![Replica::default(); count],
            budget: Budget { tenths: 20 },
        }
    }

    /// Asks each replica how it is.
    fn check(&mut self) {
        for (address, health) in self.addresses.iter().zip(&mut self.health) {
            let before = *health;
            let check = if is_well(*address) {
                Check::Passed
            } else {
                Check::Failed
            };
            *health = self.parts.ask_exactly("health", "what is believed of a replica", |parts| {
                (parts.after_check)(before, check, THRESHOLDS)
            });
        }
    }

    /// The replica that a prompt goes to first.
    fn choose(&self, prompt: &[u32]) -> usize {
        let up = self.candidates();
        let (name, chosen) = match self.policy {
            Policy::Prefix => {
                let known: Vec<Replica> = up.iter().map(|&i| self.replicas[i].clone()).collect();
                let name = "prefix_router";
                let chosen = self.parts.ask_exactly(name, "the place of a replica", |parts| {
                    (parts.prefix_router)(&known, prompt, WEIGHTS)
                });
                (name, chosen)
            }
            Policy::Hash => {
                let loads: Vec<usize> = up.iter().map(|&i| self.replicas[i].open).collect();
                let (ring, key) = (ring(&up), hash(0, &prompt[..BLOCK_SIZE.min(prompt.len())]));
                let name = "bounded_hash";
                let chosen = self.parts.ask_exactly(name, "the place of a replica", |parts| {
                    (parts.bounded_hash)(&ring, key, &loads, BOUND)
                });
                (name, chosen)
            }
        };
        match up.get(chosen) {
            Some(&replica) => replica,
            None => fail(name, format!("chooses replica {chosen} of {}", up.len())),
        }
    }

    fn candidates(&self) -> Vec<usize> {
        let up = self.parts.ask_exactly("health", "the replicas that get requests", |parts| {
            (parts.candidates)(&self.health)
        });
        if up.is_empty() || up.iter().any(|&replica| replica >= self.replicas.len()) {
            let count = self.replicas.len();
            fail("health", format!("lets requests go to {up:?}, of {count} replicas"));
        }
        up
    }

    /// Sends a request to one replica after the other, until one takes it or the client is told that none
    /// does.
    fn send(&mut self, prompt: &[u32], body: &str, limit: Duration) -> (Routed, Option<Reply>) {
        self.check();
        let mut replica = self.choose(prompt);
        let mut tried = Vec::new();
        self.budget.tenths += 1;
        loop {
            tried.push(replica);
            let failure = match Reply::to(self.addresses[replica], body, limit) {
                Ok(reply) if reply.answered.status == 200 => {
                    self.replicas[replica].open += 1;
                    self.replicas[replica].sent.push(prompt.to_vec());
                    return (Routed { tried, status: 200 }, Some(reply));
                }
                Ok(reply) => Failure::Status(reply.answered.status),
                Err(_) => Failure::NotConnected,
            };
            replica = match self.after(failure, &tried) {
                NextAttempt::Retry(next) => next,
                NextAttempt::Answer(status) => return (Routed { tried, status }, None),
                NextAttempt::EndWithError => {
                    fail(RETRY, "ends an answer with an error of which nothing was sent");
                }
            };
        }
    }

    fn after(&mut self, failure: Failure, tried: &[usize]) -> NextAttempt {
        let up = self.candidates();
        let ready: Vec<bool> = (0..self.replicas.len()).map(|i| up.contains(&i)).collect();
        let before = self.budget;
        let (next, budget) = self.parts.ask_exactly(RETRY, "what comes next", |parts| {
            let mut budget = before;
            let next = (parts.after_failure)(failure, false, tried, &ready, &mut budget);
            (next, budget)
        });
        self.budget = budget;
        if let NextAttempt::Retry(replica) = next
            && (tried.contains(&replica) || replica >= self.replicas.len())
        {
            fail(RETRY, format!("tries replica {replica} after {tried:?}"));
        }
        next
    }
}

const RETRY: &str = "retry_elsewhere";

/// The points of these replicas, by their places in the list.
fn ring(up: &[usize]) -> Vec<(u64, usize)> {
    let points = |(place, &replica): (usize, &usize)| {
        (0..POINTS).map(move |point| (hash(1 + replica as u64, &[point]), place))
    };
    let mut ring: Vec<(u64, usize)> = up.iter().enumerate().flat_map(points).collect();
    ring.sort_unstable();
    ring
}

fn is_well(address: SocketAddr) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&address, SILENCE)?;
        stream.set_read_timeout(Some(SILENCE))?;
        write!(stream, "GET /health HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        std::io::Result::Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 "))
}

/// What came of the requests under a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub routed: Vec<Routed>,
    /// Of each request that was taken, the first text, or what is wrong with its stream.
    pub texts: Vec<Option<Result<String, String>>>,
}

/// A request, and for how many texts.
pub fn requests() -> Vec<(Request, usize)> {
    let texts: Vec<Request> = several::arrivals().into_iter().map(|text| text.request).collect();
    let short = several::request("The storm", 1, 2);
    // The last two texts begin alike. Then come more than there are slots.
    let order = [1, 2, 3, 0].map(|text| (texts[text].clone(), 1));
    order.into_iter().chain([(short.clone(), 2), (short.clone(), 1), (short, 1)]).collect()
}

/// Each of two engines has these.
const SETTINGS: Settings = Settings { room: several::ROOM, slots: 3 };

/// Nobody listens at a port so low, and no system gives it to a server that asks for any.
const GONE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

/// Sends the requests to two engines, and to the address of one that is gone.
///
/// # Errors
/// A part that breaks, and an engine that cannot listen.
pub fn ask(
    engine: &Arc<(Model, Vocabulary)>,
    parts: &Parts,
    policy: Policy,
    limit: Duration,
) -> Result<Found, Stopped> {
    let start = || Server::start(engine.clone(), parts.clone(), "127.0.0.1:0", SETTINGS);
    let mut servers = [start()?, start()?];
    let addresses = vec![GONE, servers[0].address, servers[1].address];
    let (engine, parts) = (engine.clone(), parts.clone());
    let asked = watched(RETRY, limit, move || {
        let (model, vocabulary) = &*engine;
        let mut router = Router::new(&parts, policy, addresses);
        let mut sent = Vec::new();
        // Before the models compute, so that no slot becomes free on the way.
        for (request, texts) in requests() {
            let prompt = vocabulary.prompt(&parts, model.config.bos, &request.prompt);
            sent.push(router.send(&prompt, &served::body(&request, texts), limit));
        }
        servers.iter_mut().for_each(Server::compute);
        let (mut routed, mut texts) = (Vec::new(), Vec::new());
        for (how, reply) in sent {
            routed.push(how);
            let text = |reply: Reply| match reply.rest() {
                Ok(body) => served::of_events(&body),
                Err(error) => Err(error.to_string()),
            };
            texts.push(reply.map(text));
        }
        (servers, Found { routed, texts })
    });
    let (servers, found) = asked.map_err(Stopped::Broken)?;
    match servers.iter().find_map(|server| server.wait(Duration::ZERO, limit)) {
        Some(broken) => Err(Stopped::Broken(broken)),
        None => Ok(found),
    }
}
