//! What users notice of a replica that dies, one that is drained, and one that is added.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::time::sleep;

use super::cluster::{Cluster, Setup};
use super::metrics::Metrics;
use crate::bench::machine;
use crate::load::{Contender, statuses};
use crate::load::{Level, Outcome, Report, Rounds, Traffic, describe, open_loop};
use crate::simulate::table::{Table, time};

/// What happens to a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Nothing,
    Kill,
    Drain,
    Add,
}

impl Event {
    const ALL: [Self; 4] = [Self::Nothing, Self::Kill, Self::Drain, Self::Add];

    fn label(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Kill => "one is killed",
            Self::Drain => "one is drained",
            Self::Add => "one is added",
        }
    }
}

/// Each event in the middle of a load of its own, with new replicas.
pub async fn run(setup: &Setup, count: usize, traffic: &Traffic) -> Result<()> {
    let levels = traffic.levels()?;
    let &[Level::Rate(rate)] = &levels[..] else {
        anyhow::bail!("events happen in the middle of one load with a --rate");
    };
    ensure!(count >= 2, "an event leaves a replica at least: --count 2");
    println!("{}", machine::describe()?);
    println!(
        "{} in front of {count} replicas, {rate} requests per second",
        setup.router.name()
    );
    println!("{}\n", describe(traffic, 1));
    let mut table = Table::new(
        1,
        [
            "in the middle",
            "status",
            "texts it was writing",
            "texts of each replica",
            "TTFT p50",
            "p99",
        ],
    );
    let mut failures = Vec::new();
    for event in Event::ALL {
        let (report, writing, texts) = under_load(setup, count, traffic, rate, event).await?;
        table.row([
            event.label().to_owned(),
            statuses(&report),
            writing.map_or(String::new(), |writing| writing.to_string()),
            texts,
            time(report.time_to_first_token.p50),
            time(report.time_to_first_token.p99),
        ]);
        let said = report.failures.iter().map(|failure| format!("{}: {failure}", event.label()));
        failures.extend(said);
    }
    println!("{}", table.text());
    for failure in failures {
        println!("{}", failure.trim_end());
    }
    Ok(())
}

/// What clients saw, what the replica was writing at that moment, and how many texts each wrote.
async fn under_load(
    setup: &Setup,
    count: usize,
    traffic: &Traffic,
    rate: f64,
    event: Event,
) -> Result<(Report, Option<f64>, String)> {
    let mut cluster = Cluster::start(setup, count).await?;
    let contender = Contender::running(&cluster.router.url, None).await?;
    let prompts = traffic.prompts()?;
    let rounds = Rounds { traffic, rounds: 1, prompts: &prompts, levels: &[] };
    let requests = rounds.requests(0, traffic.requests)?;
    let times = traffic.arrivals.times(traffic.requests, rate, traffic.seed);
    let half = Duration::from_secs_f64(times.last().copied().unwrap_or(0.0) / 2.0);
    let (outcomes, happened) = tokio::join!(
        open_loop(&contender.client, requests, times),
        happen(&mut cluster, event, half)
    );
    let outcomes: Vec<Outcome> = outcomes?;
    let writing = happened.with_context(|| event.label())?;
    let mut texts = Vec::new();
    for replica in cluster.replicas.iter().flatten() {
        texts.push(Metrics::of(&cluster.http, &replica.url).await?.finished().to_string());
    }
    cluster.stop().await?;
    let report = Report::new(event.label(), Level::Rate(rate), &[outcomes]);
    Ok((report, writing, texts.join(", ")))
}

/// Waits, and lets it happen to the first replica. Returns what that was writing.
async fn happen(cluster: &mut Cluster, event: Event, after: Duration) -> Result<Option<f64>> {
    sleep(after).await;
    let first = cluster.replicas[0].as_ref().context("there is no first replica")?.url.clone();
    match event {
        Event::Nothing => Ok(None),
        Event::Kill => {
            let open = Metrics::of(&cluster.http, &first).await?.open();
            cluster.kill(0)?;
            Ok(Some(open))
        }
        Event::Drain => {
            let open = Metrics::of(&cluster.http, &first).await?.open();
            cluster.drain(0).await?;
            Ok(Some(open))
        }
        Event::Add => {
            cluster.add().await?;
            Ok(None)
        }
    }
}
