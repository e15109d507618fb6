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

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;

use crate::bench::machine;
use crate::server::{self, Server};
use contender::Contender;
use level::Level;
use prompts::Prompts;
use report::Report;
use rounds::Rounds;
use schedule::Arrivals;

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
    /// The program of that server [default: example 08_server, built]
    #[arg(long, value_name = "FILE")]
    server: Option<PathBuf>,
    /// Another server, measured in turns with the first
    #[arg(long, value_name = "URL")]
    peer_url: Option<String>,
    /// The command that starts another server, with {port} where its port belongs
    #[arg(long, value_name = "COMMAND", conflicts_with = "peer_url")]
    peer_command: Option<String>,
    /// Requests per second, on a schedule; several are measured in turns [default: 4]
    #[arg(long, value_delimiter = ',', conflicts_with = "clients")]
    rate: Vec<f64>,
    /// How the times between arrivals are distributed
    #[arg(long, value_enum, default_value_t = Arrivals::Poisson)]
    arrivals: Arrivals,
    /// In place of a rate, how many clients send their next request when the last is answered
    #[arg(long, value_delimiter = ',')]
    clients: Vec<usize>,
    /// How many requests a round has
    #[arg(long, default_value_t = 64)]
    requests: usize,
    /// How often everything is measured, in turns [default: 1, with --compare and --goals 5]
    #[arg(long)]
    rounds: Option<usize>,
    /// Tokens of a prompt, in those of the bundled model: beginnings of stories
    #[arg(long, default_value_t = 32, value_name = "TOKENS")]
    prompt_tokens: usize,
    /// How many of them all prompts have in common
    #[arg(long, default_value_t = 0, value_name = "TOKENS")]
    shared_prefix: usize,
    /// Tokens of a text
    #[arg(long, default_value_t = 64)]
    max_tokens: usize,
    /// The seed of arrivals, prompts and sampling
    #[arg(long, default_value_t = 1)]
    seed: u64,
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

/// The load where none is given.
const RATE: f64 = 4.0;
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
    ensure!(args.requests >= 1, "nothing is measured without a request");
    ensure!(args.rounds() >= 1, "nothing is measured in no round");
    ensure!(args.max_tokens >= 1, "a text has a token at least");
    let levels = args.levels()?;
    let prompts = Prompts::new(args.seed, args.prompt_tokens, args.shared_prefix)?;
    // One thread is enough for a client, and leaves the cores to the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        if args.goals {
            return goals::run(args, &prompts).await;
        }
        let contenders = contenders(args).await?;
        let rounds = Rounds { args, prompts: &prompts, levels: &levels };
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
        self.rounds.unwrap_or(default)
    }

    fn levels(&self) -> Result<Vec<Level>> {
        let clients = if self.compare {
            &CLIENTS[..]
        } else {
            &self.clients
        };
        let levels = if !clients.is_empty() {
            clients.iter().map(|&clients| Level::Clients(clients)).collect()
        } else if self.rate.is_empty() {
            vec![Level::Rate(RATE)]
        } else {
            self.rate.iter().map(|&rate| Level::Rate(rate)).collect()
        };
        levels.iter().try_for_each(Level::check)?;
        Ok(levels)
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
            seed: args.seed,
            arrivals: args.arrivals,
            requests: args.requests,
            rounds: args.rounds(),
            max_tokens: args.max_tokens,
            reports,
        };
        println!("{}", serde_json::to_string_pretty(&results)?);
    } else {
        println!("{}", machine::describe()?);
        println!("{}\n", table::describe(args));
        print!("{}", table::reports(reports));
    }
    if let Some(file) = &args.chart {
        chart::draw(file, reports)?;
    }
    Ok(())
}
