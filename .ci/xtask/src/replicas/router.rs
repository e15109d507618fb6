//! The routers: how each is started, and how it is told of replicas.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde_json::{Value, json};

/// A router that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Router {
    /// The router of SGLang, from PyPI: `pip install sglang-router`
    Sglang,
    /// HAProxy, with `server/deploy/haproxy.cfg`
    Haproxy,
}

/// How a router chooses a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// Any replica
    Random,
    /// One after the other
    RoundRobin,
    /// The less loaded of two random replicas
    PowerOfTwo,
    /// The replica that has the longest prefix of the prompt, unless the loads are too far apart
    CacheAware,
    /// The replica with the fewest open requests
    LeastLoaded,
}

/// How many replicas the file of HAProxy has places for.
pub const PLACES: usize = 4;
/// Where that file is, from the root of the project.
const HAPROXY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../server/deploy/haproxy.cfg");

impl Policy {
    /// The name in tables.
    pub fn label(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::RoundRobin => "round robin",
            Self::PowerOfTwo => "power of two",
            Self::CacheAware => "cache-aware",
            Self::LeastLoaded => "least loaded",
        }
    }

    /// Its name in sglang-router.
    fn of_sglang(self) -> Option<&'static str> {
        match self {
            Self::Random => Some("random"),
            Self::RoundRobin => Some("round_robin"),
            Self::PowerOfTwo => Some("power_of_two"),
            Self::CacheAware => Some("cache_aware"),
            Self::LeastLoaded => None,
        }
    }

    /// Its name in HAProxy, which reads no prompts.
    fn of_haproxy(self) -> Option<&'static str> {
        match self {
            Self::Random => Some("random(1)"),
            Self::RoundRobin => Some("roundrobin"),
            Self::PowerOfTwo => Some("random(2)"),
            Self::LeastLoaded => Some("leastconn"),
            Self::CacheAware => None,
        }
    }
}

impl Router {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sglang => "sglang-router",
            Self::Haproxy => "haproxy",
        }
    }

    /// The policy that one would take.
    pub fn usual(self) -> Policy {
        match self {
            Self::Sglang => Policy::CacheAware,
            Self::Haproxy => Policy::LeastLoaded,
        }
    }

    /// How to get it.
    fn source(self) -> &'static str {
        match self {
            Self::Sglang => "pip install sglang-router",
            Self::Haproxy => "apt-get install haproxy",
        }
    }

    /// The command that starts it on `port`, in front of replicas at these ports. `metrics` is the
    /// port of its own metrics. Only the first `running` replicas are there at first.
    pub fn command(
        self,
        program: Option<&Path>,
        policy: Policy,
        [port, metrics]: [u16; 2],
        (places, running): (&[u16], usize),
    ) -> Result<Command> {
        let mut command = Command::new(program.unwrap_or_else(|| Path::new(self.name())));
        match self {
            Self::Sglang => {
                let policy = policy.of_sglang().context(
                    "sglang-router has no such policy: random, round-robin, power-of-two, \
                     cache-aware",
                )?;
                command.args(["launch", "--host", "127.0.0.1", "--policy", policy]);
                command.args(["--port", &port.to_string()]);
                command.args(["--prometheus-host", "127.0.0.1"]);
                command.args(["--prometheus-port", &metrics.to_string()]);
                // A drained replica says so at /ready, and goes on to answer /health.
                command.args(["--health-check-endpoint", "/ready"]);
                command.args(["--health-check-interval-secs", "1"]);
                command.args([
                    "--worker-startup-check-interval",
                    "1",
                    "--log-level",
                    "error",
                ]);
                // It asks for the tokenizer of a model by its name, which is of no use here.
                command.env("HF_ENDPOINT", "http://127.0.0.1:9");
                command.arg("--worker-urls");
                command.args(places[..running].iter().map(|&port| url(port)));
            }
            Self::Haproxy => {
                let policy = policy.of_haproxy().context(
                    "HAProxy has no such policy: random, round-robin, power-of-two, least-loaded",
                )?;
                command.args(["-q", "-f", HAPROXY]).env("BALANCE", policy);
                command.env("PORT", port.to_string()).env("STATS_PORT", metrics.to_string());
                for (place, port) in (1..).zip(places) {
                    command.env(format!("REPLICA_{place}"), port.to_string());
                }
            }
        }
        command.stdout(Stdio::null());
        Ok(command)
    }

    /// How to say that the program is not there.
    pub fn missing(self) -> String {
        format!(
            "cannot start {}: install it with `{}`, or name its program with --router-program",
            self.name(),
            self.source()
        )
    }

    /// How many replicas the router sends requests to.
    pub async fn ready(self, http: &reqwest::Client, [port, metrics]: [u16; 2]) -> Result<usize> {
        match self {
            Self::Sglang => {
                let workers: Value =
                    http.get(format!("{}/workers", url(port))).send().await?.json().await?;
                let workers = workers["workers"].as_array().context("a router without workers")?;
                Ok(workers.iter().filter(|worker| worker["is_healthy"] == true).count())
            }
            Self::Haproxy => {
                let stats = http.get(format!("{}/stats;csv", url(metrics))).send().await?;
                Ok(servers_up(&stats.text().await?))
            }
        }
    }

    /// Tells the router of a new replica. HAProxy finds out by itself, by its health check.
    pub async fn add(self, http: &reqwest::Client, router: u16, replica: u16) -> Result<()> {
        if self == Self::Haproxy {
            return Ok(());
        }
        let body = json!({"url": url(replica)});
        let answer = http.post(format!("{}/workers", url(router))).json(&body).send().await?;
        let status = answer.status();
        ensure!(status.is_success(), "the router takes no replica: {}", answer.text().await?);
        Ok(())
    }
}

/// The address of a port of this machine.
pub fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// The servers of the backend that are up, in HAProxy's statistics.
fn servers_up(csv: &str) -> usize {
    let is_up = |line: &&str| {
        let fields: Vec<&str> = line.split(',').collect();
        fields.first() == Some(&"replicas")
            && fields.get(1).is_some_and(|name| *name != "BACKEND")
            && fields.get(17).is_some_and(|status| status.starts_with("UP"))
    };
    csv.lines().filter(is_up).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_a_router_lacks_is_refused() {
        let command = |router: Router, policy| router.command(None, policy, [1, 2], (&[3, 4], 2));
        assert!(command(Router::Sglang, Policy::LeastLoaded).is_err());
        assert!(command(Router::Haproxy, Policy::CacheAware).is_err());
        for router in [Router::Sglang, Router::Haproxy] {
            let has = |policy: &&Policy| command(router, **policy).is_ok();
            assert_eq!(Policy::value_variants().iter().filter(has).count(), 4);
        }
    }

    #[test]
    fn a_router_listens_on_loopback_alone() {
        let command = Router::Sglang.command(None, Policy::Random, [1, 2], (&[3, 4], 1)).unwrap();
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        let after = |flag: &str| {
            let place = words.iter().position(|word| word == flag).unwrap();
            words[place + 1..].join(" ")
        };
        assert!(after("--host").starts_with("127.0.0.1 "));
        assert!(after("--prometheus-host").starts_with("127.0.0.1 "));
        assert_eq!(after("--worker-urls"), "http://127.0.0.1:3");
        let config = std::fs::read_to_string(HAPROXY).unwrap();
        let binds: Vec<&str> = config.lines().filter(|line| line.contains("bind ")).collect();
        assert_eq!(binds.len(), 2);
        assert!(binds.iter().all(|line| line.contains("127.0.0.1")), "{binds:?}");
        assert_eq!(config.matches("${REPLICA_").count(), PLACES);
    }

    #[test]
    fn the_statistics_say_which_servers_are_up() {
        let head = ",".repeat(16);
        let line = |proxy: &str, name: &str, status: &str| {
            format!("{proxy},{name}{}{status},rest\n", &head[..16])
        };
        let csv = [
            line("api", "FRONTEND", "OPEN"),
            line("replicas", "r1", "UP"),
            line("replicas", "r2", "DOWN"),
            line("replicas", "r3", "UP 1/2"),
            line("replicas", "BACKEND", "UP"),
        ];
        assert_eq!(servers_up(&csv.concat()), 2);
    }
}
