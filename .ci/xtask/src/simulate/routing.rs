//! Routers side by side, in virtual time and beside replicas in real time.

use std::thread;

use anyhow::{Result, bail, ensure};
use clap::Args;
use slowburn::engine::Policy;

use super::check::{self, Recorded, record};
use super::recorder::Recorder;
use super::report::{Counts, Report};
use super::request::Request;
use super::router::Route;
use super::run::{Run, routed};
use super::setup::Setup;
use super::table::{Table, time};
use super::target::Target;
use crate::bench::Ours;

/// Several replicas, and what chooses among them.
#[derive(Debug, Clone, Args)]
pub struct RoutingArgs {
    /// How many replicas; with more than one, routers are compared in place of policies
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub replicas: usize,
    /// The routers [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "ROUTERS")]
    pub routers: Vec<Route>,
}

/// So that the memory of this machine is not what ends a simulation.
const MOST: usize = 10_000;

impl RoutingArgs {
    pub fn check(&self) -> Result<()> {
        ensure!(
            (1..=MOST).contains(&self.replicas),
            "from 1 to {MOST} replicas can be simulated, not {}",
            self.replicas
        );
        Ok(())
    }

    fn routes(&self) -> Vec<Route> {
        if self.routers.is_empty() {
            Route::ALL.to_vec()
        } else {
            self.routers.clone()
        }
    }
}

/// Each replica has chunked prefill and a prefix cache, as a server has.
fn of_server(setup: Setup) -> Setup {
    setup.with(Policy::ChunkedPrefill, true)
}

/// A row for each router.
pub fn compare(
    args: &RoutingArgs,
    requests: &[Request],
    setup: Setup,
    target: &Target,
) -> Result<String> {
    let headings = [
        "router",
        "TTFT p50",
        "p99",
        "between tokens p50",
        "p99",
        "tokens/s",
        "cached",
        "busiest / mean",
    ];
    let mut table = Table::new(1, headings);
    for route in args.routes() {
        let of = (args.replicas, route);
        let Run { report, busiest, .. } =
            routed(requests, of, &of_server(setup), &target.cost, target.vocab)?;
        table.row([
            route.to_string(),
            time(report.time_to_first_token.p50),
            time(report.time_to_first_token.p99),
            time(report.inter_token.p50),
            time(report.inter_token.p99),
            format!("{:.0}", report.throughput),
            format!("{:.0} %", 100.0 * report.cached_share()),
            format!("{busiest:.2}"),
        ]);
    }
    Ok(table.text())
}

/// Serves the requests with as many engines, at the same time, each on threads of its own. A
/// request goes to the same replica as in the simulation.
pub fn check(
    args: &RoutingArgs,
    load: impl Fn() -> Result<Ours>,
    requests: &[Request],
    setup: Setup,
    target: &Target,
) -> Result<String> {
    let setup = of_server(setup);
    let mut pairs = Vec::new();
    for route in args.routes() {
        let of = (args.replicas, route);
        let run = routed(requests, of, &setup, &target.cost, target.vocab)?;
        let engines = (0..args.replicas).map(|_| load()).collect::<Result<Vec<_>>>()?;
        let measured = serve(engines, requests, &run.chosen, &setup)?;
        pairs.push((route.to_string(), run.report, measured));
    }
    Ok(check::table("router", &pairs))
}

/// What all engines did together.
fn serve(
    engines: Vec<Ours>,
    requests: &[Request],
    chosen: &[usize],
    setup: &Setup,
) -> Result<Report> {
    let (mut times, mut counts) = (Recorder::new(0), Counts::default());
    let recorded: Vec<Recorded> = thread::scope(|scope| {
        let runs: Vec<_> = engines
            .iter()
            .enumerate()
            .map(|(replica, ours)| {
                let own = requests_of(replica, requests, chosen);
                scope.spawn(move || record(&ours.model, &own, setup))
            })
            .collect();
        let joined = runs.into_iter().map(|run| match run.join() {
            Ok(recorded) => recorded,
            Err(_) => bail!("an engine has panicked; what it said is above"),
        });
        joined.collect::<Result<_>>()
    })?;
    for run in recorded {
        times.join(run.recorder);
        counts = counts.add(run.counts);
    }
    Ok(Report::new(setup, requests.len(), times, &counts))
}

/// The requests of a replica, numbered anew.
fn requests_of(replica: usize, requests: &[Request], chosen: &[usize]) -> Vec<Request> {
    let own = requests.iter().zip(chosen).filter(|(_, chosen)| **chosen == replica);
    own.enumerate().map(|(index, (request, _))| Request { index, ..*request }).collect()
}
