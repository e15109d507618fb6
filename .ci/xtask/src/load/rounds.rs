//! Rounds: every server at every level, in turns.

use anyhow::Result;

use super::client::Request;
use super::contender::Contender;
use super::drive::{closed_loop, open_loop};
use super::level::Level;
use super::outcome::Outcome;
use super::prompts::Prompts;
use super::report::Report;
use super::traffic::Traffic;

/// Requests before the first round, which are not counted.
const WARM_UP: usize = 4;

/// What is measured.
pub struct Rounds<'a> {
    pub traffic: &'a Traffic,
    pub rounds: usize,
    pub prompts: &'a Prompts,
    pub levels: &'a [Level],
}

impl Rounds<'_> {
    /// A report for each server at each level.
    pub async fn measure(&self, contenders: &[Contender]) -> Result<Vec<Report>> {
        for contender in contenders {
            let requests = self.requests(u64::MAX >> 32, WARM_UP)?;
            closed_loop(&contender.client, requests, 1).await?;
        }
        let each = || contenders.iter().flat_map(|c| self.levels.iter().map(move |&l| (c, l)));
        let cases: Vec<(&Contender, Level)> = each().collect();
        let mut outcomes = vec![Vec::new(); cases.len()];
        for round in 0..self.rounds {
            // The order rotates, in case one heats up the machine.
            for turn in 0..cases.len() {
                let place = (round + turn) % cases.len();
                let (contender, level) = cases[place];
                // A number for each, so that no prompt has come before: the prefix cache would
                // spare the server the most of it.
                let number = (round * cases.len() + place) as u64;
                outcomes[place].push(self.round(contender, level, number).await?);
            }
        }
        let reports = cases.iter().zip(&outcomes);
        let report = |(&(contender, level), rounds): (&(&Contender, Level), &Vec<Vec<Outcome>>)| {
            Report::new(&contender.name, level, rounds)
        };
        Ok(reports.map(report).collect())
    }

    async fn round(
        &self,
        contender: &Contender,
        level: Level,
        number: u64,
    ) -> Result<Vec<Outcome>> {
        let traffic = self.traffic;
        let requests = self.requests(number, traffic.requests)?;
        match level {
            Level::Rate(rate) => {
                let seed = traffic.seed.wrapping_add(number);
                let times = traffic.arrivals.times(traffic.requests, rate, seed);
                open_loop(&contender.client, requests, times).await
            }
            Level::Clients(clients) => closed_loop(&contender.client, requests, clients).await,
        }
    }

    /// The requests of a round.
    pub fn requests(&self, round: u64, count: usize) -> Result<Vec<Request>> {
        let request = |k: u64| {
            let number = round * self.traffic.requests as u64 + k;
            let seed = self.traffic.seed.wrapping_add(number);
            let prompt = self.prompts.prompt(number)?;
            Ok(Request { prompt, max_tokens: self.traffic.max_tokens, seed })
        };
        (0..count as u64).map(request).collect()
    }
}
