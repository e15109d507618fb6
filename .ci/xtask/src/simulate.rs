//! `cargo xtask simulate`: the scheduler of the library in virtual time. What a policy does to the
//! waiting of thousands of requests is known in a second, also for a machine that is not there.
//!
//! A discrete-event simulation: requests arrive at times that are drawn from a seed, the scheduler
//! plans steps, and a step takes what a linear function of its work says. That function is fitted
//! to measured steps of a model, or given. `--check` compares the predictions with the engine in
//! real time.

mod calibrate;
pub mod chart;
mod check;
mod cost;
mod disaggregated;
mod fit;
mod layout;
mod log;
pub mod percentiles;
pub mod plan;
mod preset;
mod recorder;
mod replica;
mod report;
mod request;
pub mod router;
mod routing;
mod run;
mod setup;
pub mod table;
mod target;
mod traffic;
mod variants;
mod work;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;
use slowburn::engine::{EngineConfig, Policy};
use slowburn::kernels::BLOCK;

use crate::bench::Ours;
use cost::{StepCost, significant};
use fit::Fit;
use log::Log;
use report::Report;
use routing::RoutingArgs;
use setup::Setup;
use table::{Table, time};
use target::{Target, TargetArgs};
use traffic::{Arrivals, MeanLengths, Requests, Traffic};
use variants::{Sweep, Variant};

/// Times between tokens are those between neighbours of one request, over all requests. TTFT and
/// end-to-end times begin at the arrival. Throughput counts output tokens, from the start to the
/// last of them. `cached` is the share of prompt tokens that came from the prefix cache.
#[derive(Args)]
pub struct SimulateArgs {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    routing: RoutingArgs,
    /// How many requests arrive [default: 1000, with --check as many as take about 6 seconds]
    #[arg(long)]
    requests: Option<usize>,
    /// Arrivals per second [default: 1.2 times as many as one at a time can serve, 0.8 times with
    /// --check]
    #[arg(long)]
    rate: Option<f64>,
    /// How the times between arrivals are distributed
    #[arg(long, value_enum, default_value_t = Arrivals::Poisson)]
    arrivals: Arrivals,
    /// The log whose lengths the requests have
    #[arg(long, value_enum, default_value_t = Log::Conversation)]
    log: Log,
    /// The factor on all lengths of the log [default: context / 4096, at most 1: nine of ten
    /// conversations fit]
    #[arg(long)]
    scale: Option<f64>,
    /// The length of a system prompt, in front of the prompts of the log
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    shared_prompt: usize,
    /// The share of requests that begin with it, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    shared_share: f64,
    /// How many different system prompts there are; a request has one of them, by chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    shared_prompts: usize,
    /// The most sequences in a step
    #[arg(long, default_value_t = EngineConfig::default().max_running)]
    max_running: usize,
    /// The most tokens in a step with chunked prefill [default: an eighth of the context]
    #[arg(long, value_name = "TOKENS")]
    token_budget: Option<usize>,
    /// The positions of a block
    #[arg(long, default_value_t = BLOCK)]
    block_size: usize,
    /// Vary one setting of chunked prefill with the prefix cache, in place of the policy
    #[arg(long, value_enum)]
    sweep: Option<Sweep>,
    /// The seed of arrivals, lengths and tokens
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the times (.svg or .png)
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Serve the requests in real time too, and compare. Unless the cost is given, it is fitted to
    /// steps of a run before, which serves other requests
    #[arg(long, conflicts_with_all = ["sweep", "json", "chart"])]
    check: bool,
}

/// How much more arrives than one at a time can serve.
const LOAD: f64 = 1.2;
/// The same with `--check`: where more arrives than is served, the queue multiplies the smallest
/// error.
const CHECK_LOAD: f64 = 0.8;
/// A context in which nine of ten conversations of the log fit: the 90th percentiles of prompt and
/// output are 2735 and 424 tokens.
const WHOLE_LENGTHS: f64 = 4096.0;
const REQUESTS: usize = 1000;

/// All that the command found out.
#[derive(Serialize)]
struct Results<'a> {
    target: &'a Target,
    rate: f64,
    seed: u64,
    scale: f64,
    mean_lengths: MeanLengths,
    shortened: usize,
    runs: Vec<&'a Report>,
}

pub fn run(args: &SimulateArgs) -> Result<()> {
    args.validate()?;
    let (simulation, ours) = Simulation::prepare(args)?;
    if !args.json {
        print!("{}", simulation.describe());
    }
    if args.routing.replicas > 1 {
        print!("{}", simulation.routers(args)?);
        return Ok(());
    }
    if args.check {
        let ours = ours.context("there is no model to check with")?;
        print!("{}", simulation.check(&ours)?);
        return Ok(());
    }
    let rows = simulation.runs(args.sweep)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&simulation.results(&rows))?);
    } else {
        print!("{}", table(args.sweep.map_or("policy", Sweep::name), &rows));
    }
    if let Some(file) = &args.chart {
        match args.sweep {
            Some(sweep) => chart::sweep(file, sweep, &rows)?,
            None => chart::policies(file, &rows)?,
        }
    }
    Ok(())
}

impl SimulateArgs {
    /// All that can be wrong is found before anything is measured.
    fn validate(&self) -> Result<()> {
        ensure!(
            !self.check || self.block_size == BLOCK,
            "the engine has blocks of {BLOCK} positions: leave out --block-size or --check"
        );
        if let Some(rate) = self.rate {
            ensure!(rate > 0.0 && rate.is_finite(), "a rate is a number above 0, not {rate}");
        }
        self.routing.check()?;
        let is_routed = self.routing.replicas > 1;
        ensure!(
            !is_routed || !(self.sweep.is_some() || self.json || self.chart.is_some()),
            "routers are compared in a table: leave out --sweep, --json and --chart"
        );
        Ok(())
    }

    fn setup(&self, target: &Target) -> Setup {
        let eighth = (target.context / 8).max(1);
        Setup {
            config: EngineConfig {
                policy: Policy::ChunkedPrefill,
                max_running: self.max_running,
                max_admitted: usize::MAX,
                token_budget: self.token_budget.unwrap_or(eighth),
                prefix_cache: false,
            },
            block_size: self.block_size,
            kv_cache: target.kv_cache,
        }
    }

    fn traffic(&self, target: &Target) -> Traffic {
        let scale = (target.context as f64 / WHOLE_LENGTHS).min(1.0);
        Traffic {
            seed: self.seed,
            count: self.requests.unwrap_or(REQUESTS),
            arrivals: self.arrivals,
            log: self.log,
            scale: self.scale.unwrap_or(scale),
            context: target.context,
            shared_prompt: self.shared_prompt,
            shared_share: self.shared_share,
            prefixes: self.shared_prompts,
        }
    }
}

/// What is simulated.
struct Simulation {
    target: Target,
    traffic: Traffic,
    requests: Requests,
    /// Arrivals per second.
    rate: f64,
    setup: Setup,
}

impl Simulation {
    /// All that the runs need, and the model if there is one.
    fn prepare(args: &SimulateArgs) -> Result<(Self, Option<Ours>)> {
        let (target, mut ours) = args.target.target(args.check)?;
        let setup = args.setup(&target);
        setup.check()?;
        let mut traffic = args.traffic(&target);
        let mut requests = traffic.requests()?;
        let rate = args.rate.unwrap_or_else(|| {
            let load = if args.check { CHECK_LOAD } else { LOAD };
            let replicas = args.routing.replicas as f64;
            default_rate(&requests, &target.cost, load * replicas)
        });
        if args.check && args.requests.is_none() {
            traffic.count = ((check::SECONDS * rate).ceil() as usize).max(1);
            requests = traffic.requests()?;
        }
        let requests = requests.at_rate(rate)?;
        let mut simulation = Self { target, traffic, requests, rate, setup };
        if args.check {
            ours = ours.map(|ours| with_budget(ours, &setup));
            if let Some(ours) = &ours
                && simulation.target.fit.is_some()
            {
                simulation.fit_to_served(ours)?;
            }
        }
        Ok((simulation, ours))
    }

    fn is_shared(&self) -> bool {
        self.traffic.shared_prompt > 0
    }

    /// Serves requests in real time with each policy, and fits the cost to all steps.
    fn fit_to_served(&mut self, ours: &Ours) -> Result<()> {
        // Other requests than those that are predicted.
        let traffic = Traffic {
            seed: self.traffic.seed.wrapping_add(1),
            ..self.traffic.clone()
        };
        let requests = traffic.requests()?.at_rate(self.rate)?.list;
        let mut steps = Vec::new();
        for policy in Policy::ALL {
            let setup = self.setup.with(policy, self.is_shared());
            steps.extend(check::record(&ours.model, &requests, &setup)?.steps);
        }
        let fit = Fit::of(&steps)?;
        (self.target.cost, self.target.fit) = (fit.cost, Some(fit));
        Ok(())
    }

    /// What is simulated, in a few lines.
    fn describe(&self) -> String {
        let Self { target, traffic, requests, rate, setup } = self;
        let mut text = format!("{}\n{}", target.name, describe_cost(target));
        let MeanLengths { prompt, output } = requests.mean_lengths();
        text += &format!(
            "\n{} requests, {}, {} per second, seed {}\n",
            requests.list.len(),
            traffic.arrivals,
            significant(*rate),
            traffic.seed
        );
        text += &format!(
            "{prompt:.0} prompt and {output:.0} output tokens on average; {} shortened to fit into a \
             context of {}\n",
            requests.shortened, traffic.context
        );
        if self.is_shared() {
            let share = 100.0 * traffic.shared_share;
            text += &match traffic.prefixes {
                1 => format!("{share:.0} % begin with the same {} tokens\n", traffic.shared_prompt),
                prefixes => format!(
                    "{share:.0} % begin with one of {prefixes} prompts of {} tokens\n",
                    traffic.shared_prompt
                ),
            };
        }
        let config = setup.config;
        text += &format!(
            "Up to {} sequences in a step, a token budget of {}, {} blocks of {} positions\n\n",
            config.max_running,
            config.token_budget,
            setup.blocks(),
            setup.block_size
        );
        text
    }

    /// The table of routers.
    fn routers(&self, args: &SimulateArgs) -> Result<String> {
        let (list, setup, target) = (&self.requests.list, self.setup, &self.target);
        if args.check {
            let load = || Ok(with_budget(args.target.load()?, &setup));
            routing::check(&args.routing, load, list, setup, target)
        } else {
            routing::compare(&args.routing, list, setup, target)
        }
    }

    /// Serves the requests in real time with each policy: the table of how that compares.
    fn check(&self, ours: &Ours) -> Result<String> {
        let mut pairs = Vec::new();
        for policy in Policy::ALL {
            let setup = self.setup.with(policy, self.is_shared());
            let predicted = self.run(&setup)?;
            let measured = check::serve(&ours.model, &self.requests.list, &setup)?;
            pairs.push((policy.to_string(), predicted, measured));
        }
        Ok(check::table("policy", &pairs))
    }

    /// Runs with each policy, or with each value of a setting.
    fn runs(&self, sweep: Option<Sweep>) -> Result<Vec<(Variant, Report)>> {
        let variants = match sweep {
            Some(sweep) => sweep.variants(self.setup, self.target.context),
            None => variants::policies(self.setup, self.is_shared()),
        };
        let mut rows = Vec::new();
        for variant in variants {
            variant.setup.check()?;
            let report = self.run(&variant.setup)?;
            rows.push((variant, report));
        }
        Ok(rows)
    }

    fn run(&self, setup: &Setup) -> Result<Report> {
        run::run(&self.requests.list, setup, &self.target.cost, self.target.vocab)
    }

    fn results<'a>(&'a self, rows: &'a [(Variant, Report)]) -> Results<'a> {
        Results {
            target: &self.target,
            rate: self.rate,
            seed: self.traffic.seed,
            scale: self.traffic.scale,
            mean_lengths: self.requests.mean_lengths(),
            shortened: self.requests.shortened,
            runs: rows.iter().map(|(_, report)| report).collect(),
        }
    }
}

/// `load` times as many requests per second as one at a time can serve, to two significant digits.
fn default_rate(requests: &Requests, cost: &StepCost, load: f64) -> f64 {
    let busy: f64 = requests.list.iter().map(|request| cost.alone(request)).sum();
    let rate = load * requests.list.len() as f64 / busy;
    let unit = 10f64.powf(rate.log10().floor() - 1.0);
    (rate / unit).round() * unit
}

/// The model, with as much memory for keys and values as is simulated.
fn with_budget(ours: Ours, setup: &Setup) -> Ours {
    let bytes = setup.blocks().saturating_mul(ours.model.kv_pool().block_bytes());
    let model = ours.model.with_kv_cache_bytes(bytes);
    Ours { model, ..ours }
}

/// The fit, and what each kind of work costs.
fn describe_cost(target: &Target) -> String {
    let mut text = String::new();
    if let Some(fit) = &target.fit {
        text += &format!(
            "The fitted cost is off by {:.0} % at the median step, by {:.0} % at the 95th \
             percentile.\n",
            100.0 * fit.median_error,
            100.0 * fit.p95_error
        );
    }
    let mut costs = Table::new(1, ["a step costs", "µs"]);
    let names = [
        "in any case",
        "for each prefill token",
        "for each decode",
        "for each position that a decode attends to",
        "for each position that a prefill token attends to",
    ];
    for (name, seconds) in names.into_iter().zip(target.cost.coefficients()) {
        costs.row([name.to_owned(), significant(1e6 * seconds)]);
    }
    text += &format!("\n{}\nAgain without measuring: --cost {}\n", costs.text(), target.cost);
    text
}

/// A row for each run.
fn table(first: &str, rows: &[(Variant, Report)]) -> String {
    let mut table = Table::new(
        1,
        [
            first,
            "finished",
            "TTFT p50",
            "p99",
            "between tokens p50",
            "p99",
            "end to end p50",
            "p99",
            "tokens/s",
            "preemptions",
            "cached",
            "peak blocks",
        ],
    );
    for (variant, report) in rows {
        table.row([
            variant.label.clone(),
            format!("{} of {}", report.finished, report.requests),
            time(report.time_to_first_token.p50),
            time(report.time_to_first_token.p99),
            time(report.inter_token.p50),
            time(report.inter_token.p99),
            time(report.end_to_end.p50),
            time(report.end_to_end.p99),
            format!("{:.0}", report.throughput),
            report.preemptions.to_string(),
            format!("{:.0} %", 100.0 * report.cached_share()),
            format!("{} of {}", report.peak_blocks, report.kv_blocks),
        ]);
    }
    table.text()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        simulate: SimulateArgs,
    }

    fn parse(words: &str) -> Result<SimulateArgs, clap::Error> {
        let words = ["simulate"].into_iter().chain(words.split_whitespace());
        Ok(Cli::try_parse_from(words)?.simulate)
    }

    #[test]
    fn settings_that_exclude_each_other_are_refused() {
        for words in [
            "--cost 1,2,3,4 --preset llama-8b-h100",
            "--check --preset llama-8b-h100",
            "--check --sweep block-size",
            "--check --json",
            "--cost 1,2,3",
            "--sweep rate",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }

    #[test]
    fn a_setting_out_of_range_is_an_error_and_not_a_panic() {
        for words in [
            "--requests 0",
            "--requests 99999999999999",
            "--rate 0",
            "--rate NaN",
            "--scale 0",
            "--scale=-1",
            "--shared-share 2",
            "--shared-prompt 18446744073709551615",
            "--context 0",
            "--context 18446744073709551615",
            "--kv-cache 0",
            "--kv-cache 18446744073709551615",
            "--block-size 0",
            "--max-running 0",
            "--token-budget 0",
            "--check --block-size 16",
            "--replicas 0",
            "--replicas 99999999999",
            "--replicas 2 --json",
            "--shared-prompts 0",
        ] {
            let args = parse(&format!("--cost 500,60,50,0.1 {words}")).unwrap();
            assert!(run(&args).is_err(), "{words}");
        }
    }

    #[test]
    fn a_chart_is_drawn_of_policies_and_of_a_sweep() {
        let folder = tempfile::tempdir().unwrap();
        for (words, label) in [
            ("", "chunked prefill"),
            ("--sweep token-budget", "token budget"),
        ] {
            let file = folder.path().join("chart.svg");
            let words = format!("--cost 500,60,50,0.1 --requests 50 {words} --chart");
            let args = parse(&format!("{words} {}", file.display())).unwrap();
            run(&args).unwrap();
            let svg = std::fs::read_to_string(&file).unwrap();
            assert!(svg.contains(label) && svg.contains("time to first token (ms)"), "{label}");
        }
    }

    #[test]
    fn the_default_rate_is_a_multiple_of_what_one_at_a_time_serves() {
        let requests = traffic::tests::traffic(200).requests().unwrap();
        let cost = cost::tests::cost();
        let rate = default_rate(&requests, &cost, 0.5);
        let setup = Setup {
            config: EngineConfig { policy: Policy::OneAtATime, ..EngineConfig::default() },
            block_size: 32,
            kv_cache: 1 << 16,
        };
        // All are there from the start: it is never idle.
        let requests = requests.at_rate(1e9).unwrap();
        let report = run::run(&requests.list, &setup, &cost, 1000).unwrap();
        let served = 200.0 / report.seconds;
        assert!((rate / (0.5 * served) - 1.0).abs() < 0.05, "{rate} {served}");
    }
}
