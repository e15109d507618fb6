//! What is sent to a server, and how often.

use anyhow::{Result, ensure};
use clap::Args;

use super::level::Level;
use super::prompts::Prompts;
use super::schedule::Arrivals;

/// The requests of a measurement.
#[derive(Debug, Clone, Args)]
pub struct Traffic {
    /// Requests per second, on a schedule; several are measured in turns [default: 4]
    #[arg(long, value_delimiter = ',', conflicts_with = "clients")]
    pub rate: Vec<f64>,
    /// How the times between arrivals are distributed
    #[arg(long, value_enum, default_value_t = Arrivals::Poisson)]
    pub arrivals: Arrivals,
    /// In place of a rate, how many clients send their next request when the last is answered
    #[arg(long, value_delimiter = ',')]
    pub clients: Vec<usize>,
    /// How many requests a round has
    #[arg(long, default_value_t = 64)]
    pub requests: usize,
    /// How often everything is measured, in turns [default: 1, with --compare and --goals 5]
    #[arg(long)]
    pub rounds: Option<usize>,
    /// Tokens of a prompt, in those of the bundled model: beginnings of stories
    #[arg(long, default_value_t = 32, value_name = "TOKENS")]
    pub prompt_tokens: usize,
    /// How many of them all prompts have in common
    #[arg(long, default_value_t = 0, value_name = "TOKENS")]
    pub shared_prefix: usize,
    /// How many different beginnings of that length there are: a prompt has one of them, by chance
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub prefixes: usize,
    /// Tokens of a text
    #[arg(long, default_value_t = 64)]
    pub max_tokens: usize,
    /// The seed of arrivals, prompts and sampling
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The load where none is given.
const RATE: f64 = 4.0;

impl Traffic {
    /// Refuses what measures nothing.
    pub fn check(&self, rounds: usize) -> Result<()> {
        ensure!(self.requests >= 1, "nothing is measured without a request");
        ensure!(rounds >= 1, "nothing is measured in no round");
        ensure!(self.max_tokens >= 1, "a text has a token at least");
        Ok(())
    }

    pub fn prompts(&self) -> Result<Prompts> {
        Prompts::new(self.seed, self.prompt_tokens, self.shared_prefix, self.prefixes)
    }

    /// The loads: the rates, the numbers of clients, or the usual rate.
    pub fn levels(&self) -> Result<Vec<Level>> {
        let levels: Vec<Level> = if !self.clients.is_empty() {
            self.clients.iter().map(|&clients| Level::Clients(clients)).collect()
        } else if self.rate.is_empty() {
            vec![Level::Rate(RATE)]
        } else {
            self.rate.iter().map(|&rate| Level::Rate(rate)).collect()
        };
        levels.iter().try_for_each(Level::check)?;
        Ok(levels)
    }
}
