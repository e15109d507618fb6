//! `cargo xtask load`: a server with the API of OpenAI under load. What is measured is what a
//! client sees: the time to the first token, between tokens and to the end, and which requests are
//! refused.
//!
//! With `--rate`, requests arrive on a schedule (open loop), whether or not the server keeps up,
//! and their times begin at the scheduled arrival. A client that sends its next request only when
//! the last one is answered (closed loop, `--clients`) slows down with the server, and so leaves
//! out the waiting of all those who would have come meanwhile: coordinated omission.

mod chart;
mod client;
mod contender;
mod drive;
mod goals;
mod level;
mod outcome;
mod prompts;
mod report;
mod rounds;
mod schedule;
mod table;
mod traffic;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::bench::machine;
use crate::server::{self, Server};
use schedule::Arrivals;

pub use contender::Contender;
pub use drive::open_loop;
pub use level::Level;
pub use outcome::Outcome;
pub use report::Report;
pub use rounds::Rounds;
pub use table::{describe, reports as reports_table, statuses};
pub use traffic::Traffic;

/// TTFT and end-to-end times begin at the scheduled arrival, with --clients when the client was
/// free. Times between tokens are those between neighbours of one text. Throughput counts output
/// tokens, from the first arrival to the last end; with several rounds it is their median.
#[derive(Args)]
pub struct LoadArgs {
    /// A server that runs already [default: one that is built and started here]
    #[arg(long, conflicts_with_all = ["server_args", "server"])]
    url: Option<String>,
    /// The API key of that server and of the peer
    #[arg(long, env = "OPENAI_API_KEY", hide_env_values = true)]
    api_key: Option<String>,
    /// The flags of the server that is started: "--model data/smollm2-135m --max-running 16"
    #[arg(
        long,
        allow_hyphen_values = true,
        default_value = "",
        value_name = "FLAGS"
    )]
    server_args: String,
    /// The program of that server [default: example 16_server, built]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
    /// Another server, measured in turns with the first
    #[arg(long, value_name = "URL")]
    peer_url: Option<String>,
    /// The command that starts another server, with {port} where its port belongs
    #[arg(long, value_name = "COMMAND", conflicts_with = "peer_url")]
    peer_command: Option<String>,
    #[command(flatten)]
    traffic: Traffic,
    /// 1, 4 and 16 clients, in turns; with a peer, both servers
    #[arg(long, conflicts_with_all = ["rate", "clients"])]
    compare: bool,
    /// The throughput of 16 clients over that of one, for the bundled model and for the shape of
    /// SmolLM2-135M with random weights, beside the goals
    #[arg(long, conflicts_with_all = ["rate", "clients", "compare", "url", "peer_url",
          "peer_command", "json", "chart", "server_args"])]
    goals: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the times (.svg or .png)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// Rounds of comparisons.
const ROUNDS: usize = 5;
/// The clients of a comparison.
const CLIENTS: [usize; 3] = [1, 4, 16];

/// All that the command found out.
#[derive(Serialize)]
struct Results<'a> {
    machine: String,
    seed: u64,
    arrivals: Arrivals,
    requests: usize,
    rounds: usize,
    max_tokens: usize,
    reports: &'a [Report],
}

pub fn run(args: &LoadArgs) -> Result<()> {
    args.traffic.check(args.rounds())?;
    let levels = args.levels()?;
    let prompts = args.traffic.prompts()?;
    // One thread is enough for a client, and leaves the cores to the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        if args.goals {
            return goals::run(args, &prompts).await;
        }
        let contenders = contenders(args).await?;
        let rounds = Rounds {
            traffic: &args.traffic,
            rounds: args.rounds(),
            prompts: &prompts,
            levels: &levels,
        };
        let reports = rounds.measure(&contenders).await?;
        show(args, &reports)
    })
}

impl LoadArgs {
    fn rounds(&self) -> usize {
        let default = if self.compare || self.goals {
            ROUNDS
        } else {
            1
        };
        self.traffic.rounds.unwrap_or(default)
    }

    fn levels(&self) -> Result<Vec<Level>> {
        if self.compare {
            return Ok(CLIENTS.map(Level::Clients).to_vec());
        }
        self.traffic.levels()
    }
}

/// The servers to be measured: the first, and a peer if there is one.
async fn contenders(args: &LoadArgs) -> Result<Vec<Contender>> {
    let key = args.api_key.as_deref();
    let first = match &args.url {
        Some(url) => Contender::running(url, key).await?,
        None => {
            let flags = shlex::split(&args.server_args);
            let flags = flags.context("the flags of the server have an open quote")?;
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let server = Server::start_ours(&server::program(args.server.as_deref())?, &flags)?;
            Contender::started("Slow Burn", server, None).await?
        }
    };
    let mut contenders = vec![first];
    if let Some(url) = &args.peer_url {
        contenders.push(Contender::running(url, key).await?);
    }
    if let Some(command) = &args.peer_command {
        contenders.push(Contender::started("peer", Server::start(command)?, key).await?);
    }
    Ok(contenders)
}

fn show(args: &LoadArgs, reports: &[Report]) -> Result<()> {
    if args.json {
        let results = Results {
            machine: machine::describe()?,
            seed: args.traffic.seed,
            arrivals: args.traffic.arrivals,
            requests: args.traffic.requests,
            rounds: args.rounds(),
            max_tokens: args.traffic.max_tokens,
            reports,
        };
        println!("{}", serde_json::to_string_pretty(&results)?);
    } else {
        println!("{}", machine::describe()?);
        println!("{}\n", table::describe(&args.traffic, args.rounds()));
        print!("{}", table::reports(reports));
    }
    if let Some(file) = &args.chart {
        chart::draw(file, reports)?;
    }
    Ok(())
}
