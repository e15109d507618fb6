//! `cargo xtask replicas`: several servers behind a router, on this machine. Nothing of the router
//! is written here: it is sglang-router or HAProxy, each with what it is configured with.
//!
//! Everything listens on the loopback interface alone, and ends with the command.

mod cluster;
mod events;
mod measure;
mod metrics;
mod router;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, Subcommand};
use tokio::runtime::Builder;

use crate::load::Traffic;
use crate::server;
use cluster::{Cluster, Setup};
use router::{Policy, Router};

#[derive(Args)]
pub struct ReplicasArgs {
    /// The router in front of the replicas
    #[arg(long, value_enum, default_value_t = Router::Sglang, global = true)]
    router: Router,
    /// The program of the router [default: sglang-router or haproxy, wherever PATH has it]
    #[arg(long, value_name = "FILE", global = true)]
    router_program: Option<PathBuf>,
    /// Further flags of the router: "--balance-abs-threshold 4"
    #[arg(
        long,
        allow_hyphen_values = true,
        default_value = "",
        value_name = "FLAGS",
        global = true
    )]
    router_args: String,
    /// The flags of each replica: "--threads 1 --max-running 16"
    #[arg(
        long,
        allow_hyphen_values = true,
        default_value = "",
        value_name = "FLAGS",
        global = true
    )]
    server_args: String,
    /// The program of the replicas [default: example 16_server, built]
    #[arg(long, value_name = "FILE", global = true)]
    server: Option<PathBuf>,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Start replicas and their router, and say where they are, until Ctrl-C
    Run {
        /// How many replicas
        #[arg(long, default_value_t = 2)]
        count: usize,
        /// The port of the router; 0 takes a free one
        #[arg(long, default_value_t = 8080)]
        port: u16,
        /// How the router chooses [default: cache-aware, with HAProxy least-loaded]
        #[arg(long, value_enum)]
        policy: Option<Policy>,
    },
    /// Measure one replica alone, and several behind the router
    Scaling {
        /// How many replicas
        #[arg(long, value_delimiter = ',', default_value = "1,2,4")]
        counts: Vec<usize>,
        #[command(flatten)]
        traffic: Traffic,
    },
    /// Measure the policies of the router, with replicas that have served nothing before
    Policies {
        /// How many replicas
        #[arg(long, default_value_t = 4)]
        count: usize,
        /// How the router chooses
        #[arg(
            long,
            value_enum,
            value_delimiter = ',',
            default_value = "round-robin,cache-aware"
        )]
        policies: Vec<Policy>,
        #[command(flatten)]
        traffic: Traffic,
    },
    /// Kill a replica under load, drain one, and add one
    Events {
        /// How many replicas
        #[arg(long, default_value_t = 3)]
        count: usize,
        #[command(flatten)]
        traffic: Traffic,
    },
}

pub fn run(args: &ReplicasArgs) -> Result<()> {
    // What cannot be measured is said before anything is built or started.
    if let What::Scaling { traffic, .. }
    | What::Policies { traffic, .. }
    | What::Events { traffic, .. } = &args.what
    {
        traffic.check(traffic.rounds.unwrap_or(1))?;
        traffic.levels()?;
    }
    let words = |flags: &str| shlex::split(flags).context("a flag has an open quote");
    let setup = Setup {
        router: args.router,
        router_program: args.router_program.clone(),
        router_flags: words(&args.router_args)?,
        flags: words(&args.server_args)?,
        program: server::program(args.server.as_deref())?,
        policy: args.router.usual(),
        port: 0,
    };
    // One thread is enough for a client, and leaves the cores to the replicas.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match &args.what {
            What::Run { count, port, policy } => {
                let policy = policy.unwrap_or(setup.policy);
                hold(Setup { port: *port, policy, ..setup }, *count).await
            }
            What::Scaling { counts, traffic } => measure::scaling(&setup, counts, traffic).await,
            What::Policies { count, policies, traffic } => {
                measure::policies(&setup, *count, policies, traffic).await
            }
            What::Events { count, traffic } => events::run(&setup, *count, traffic).await,
        }
    })
}

/// Starts a cluster, and keeps it until Ctrl-C, or until one of its processes ends.
async fn hold(setup: Setup, count: usize) -> Result<()> {
    ensure!(count >= 1, "a router has a replica at least");
    let mut cluster = Cluster::start(&setup, count).await?;
    for replica in cluster.replicas.iter().flatten() {
        println!("replica at {}", replica.url);
    }
    println!("{} at {}", setup.router.name(), cluster.router.url);
    loop {
        tokio::select! {
            stopped = tokio::signal::ctrl_c() => {
                stopped?;
                println!("stopping");
                return cluster.stop().await;
            }
            () = tokio::time::sleep(Duration::from_millis(200)) => cluster.check()?,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        replicas: ReplicasArgs,
    }

    #[test]
    fn what_measures_nothing_is_refused_before_anything_is_built() {
        for words in [
            "scaling --requests 0",
            "policies --rate 0",
            "events --rounds 0",
        ] {
            let words = ["replicas"].into_iter().chain(words.split_whitespace());
            assert!(run(&Cli::parse_from(words).replicas).is_err());
        }
    }
}
