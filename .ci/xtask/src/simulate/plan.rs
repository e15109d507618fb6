//! `cargo xtask plan`: how many GPUs a number of users takes, and what goes over the wires.
//! Everything is computed: from data sheets, assumed efficiencies and the simulation.

use std::fmt;

use anyhow::{Result, ensure};
use clap::Args;
use slowburn::engine::{EngineConfig, Policy};

use super::cost::StepCost;
use super::disaggregated::{self, Pools};
use super::layout::{Interconnect, Layout};
use super::preset::{CONTEXT, H100, Model, Shape, VOCAB};
use super::request::Request;
use super::router::Route;
use super::run::routed;
use super::setup::Setup;
use super::table::{Table, time};
use super::traffic::Traffic;
use super::work::Work;

/// Users send a request from time to time, with the lengths of the log of conversations. A layout
/// is enough if one request in a hundred waits longer for its first token than --first-token, and
/// one time between two tokens in a hundred is longer than --between-tokens.
#[derive(Args)]
pub struct PlanArgs {
    /// The model, in bf16 on H100s
    #[arg(long, value_enum, default_value_t = Shape::Llama8b)]
    model: Shape,
    /// How many users there are
    #[arg(long, default_value_t = 10_000)]
    users: usize,
    /// The mean seconds between two requests of a user
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    every: f64,
    /// The 99th percentile of the time to first token, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 200.0)]
    first_token: f64,
    /// The 99th percentile of the time between two tokens, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 50.0)]
    between_tokens: f64,
    /// How many requests are simulated
    #[arg(long, default_value_t = 4000)]
    requests: usize,
    /// The most tokens in a step
    #[arg(long, value_name = "TOKENS", default_value_t = 1024)]
    token_budget: usize,
}

const BLOCK: usize = 16;
/// The most GPUs that are tried.
const MOST: usize = 400;
/// The decodes of the step in the table of wires.
const DECODES: u64 = 64;
const LAYOUTS: [Layout; 6] = [
    Layout::Whole,
    Layout::Tensor(2),
    Layout::Tensor(4),
    Layout::Tensor(8),
    Layout::Pipeline(2),
    Layout::Pipeline(4),
];

/// What users notice, in seconds: both 99th percentiles.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Service {
    first_token: f64,
    between_tokens: f64,
}

/// How many GPUs do it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Need {
    gpus: Gpus,
    service: Service,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gpus {
    Together(usize),
    Apart { prefill: usize, decode: usize },
}

impl Gpus {
    fn total(self) -> usize {
        match self {
            Self::Together(gpus) => gpus,
            Self::Apart { prefill, decode } => prefill + decode,
        }
    }
}

impl fmt::Display for Gpus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Together(gpus) => write!(out, "{gpus}"),
            Self::Apart { prefill, decode } => {
                write!(out, "{prefill} + {decode} = {}", self.total())
            }
        }
    }
}

/// What is planned for.
struct Plan {
    model: Model,
    requests: Vec<Request>,
    limit: Service,
    token_budget: usize,
}

pub fn run(args: &PlanArgs) -> Result<()> {
    ensure!(args.users >= 1, "a plan is for a user at least");
    for (name, value) in [
        ("every", args.every),
        ("first-token", args.first_token),
        ("between-tokens", args.between_tokens),
    ] {
        ensure!(value > 0.0 && value.is_finite(), "--{name} is a number above 0, not {value}");
    }
    let model = args.model.model();
    let rate = args.users as f64 / args.every;
    println!(
        "{} in bf16 on H100 SXM, from data sheets: computed, not measured\n",
        args.model.name()
    );
    println!("{}", wires(&model));
    let requests = Traffic::conversation(args.requests, CONTEXT).requests()?;
    let lengths = requests.mean_lengths();
    println!(
        "{} users, a request of each every {} s: {rate:.0} a second, {:.0} prompt and {:.0} output\n\
         tokens on average\np99 of the first token {} ms, between tokens {} ms\n",
        args.users,
        args.every,
        lengths.prompt,
        lengths.output,
        args.first_token,
        args.between_tokens
    );
    let plan = Plan {
        model,
        requests: requests.at_rate(rate)?.list,
        limit: Service {
            first_token: args.first_token / 1e3,
            between_tokens: args.between_tokens / 1e3,
        },
        token_budget: args.token_budget,
    };
    print!("{}", plan.table()?);
    Ok(())
}

/// What each layout sends, and what a step takes with each wire.
fn wires(model: &Model) -> String {
    let headings = ["layout", "KB per token and GPU", "messages per step"];
    let wires = Interconnect::ALL.map(|wire| wire.name);
    let mut table = Table::new(1, headings.into_iter().chain(wires));
    let work = Work {
        decode: DECODES,
        decode_positions: DECODES * 1000,
        ..Work::default()
    };
    for layout in LAYOUTS {
        let sent = [
            layout.to_string(),
            format!("{:.0}", layout.bytes_per_token(model) / 1e3),
            format!("{:.0}", layout.messages(model)),
        ];
        let steps = Interconnect::ALL.map(|wire| time(layout.cost(model, &H100, &wire).of(&work)));
        table.row(sent.into_iter().chain(steps));
    }
    format!("A step of {DECODES} decodes at 1000 positions:\n\n{}", table.text())
}

impl Plan {
    /// The fewest GPUs of each layout.
    fn table(&self) -> Result<String> {
        let mut table =
            Table::new(2, ["layout", "wire", "H100s", "TTFT p99", "between tokens p99"]);
        let mut row = |layout: String, wire: &str, need: Option<Need>| {
            let cell = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
            table.row([
                layout,
                wire.to_owned(),
                cell(need.map(|need| need.gpus.to_string())),
                cell(need.map(|need| time(need.service.first_token))),
                cell(need.map(|need| time(need.service.between_tokens))),
            ]);
        };
        for layout in LAYOUTS {
            let wire = match layout {
                Layout::Whole => None,
                Layout::Tensor(_) => Some(Interconnect::NVLINK),
                Layout::Pipeline(_) => Some(Interconnect::INFINIBAND),
            };
            let name = wire.map_or("", |wire| wire.name);
            row(layout.to_string(), name, self.together(layout, wire)?);
        }
        for wire in [Interconnect::INFINIBAND, Interconnect::ETHERNET_10] {
            row("prefill and decode apart".to_owned(), wire.name, self.apart(wire)?);
        }
        Ok(table.text())
    }

    /// The fewest GPUs in groups with this layout, or none if no number is enough.
    fn together(&self, layout: Layout, wire: Option<Interconnect>) -> Result<Option<Need>> {
        let Some(kv_cache) = layout.kv_cache(&self.model, &H100) else {
            return Ok(None);
        };
        let cost = layout.cost(&self.model, &H100, &wire.unwrap_or(Interconnect::NVLINK));
        let setup = self.setup(kv_cache);
        let most = MOST / layout.gpus();
        let least = self.least(&cost).div_ceil(layout.batches());
        let found = fewest(least, most, |groups| {
            let of = (groups * layout.batches(), Route::LeastLoaded);
            let report = routed(&self.requests, of, &setup, &cost, VOCAB)?.report;
            let service = Service {
                first_token: report.time_to_first_token.p99,
                between_tokens: report.inter_token.p99,
            };
            Ok((service, self.is_enough(&service) && report.refused == 0))
        })?;
        Ok(found.map(|(groups, service)| Need {
            gpus: Gpus::Together(groups * layout.gpus()),
            service,
        }))
    }

    /// The fewest GPUs that read prompts, and the fewest that write the rest. Each of them has the
    /// whole model.
    fn apart(&self, wire: Interconnect) -> Result<Option<Need>> {
        let Some(kv_cache) = Layout::Whole.kv_cache(&self.model, &H100) else {
            return Ok(None);
        };
        let cost = self.model.cost(&H100);
        let setup = self.setup(kv_cache);
        let outcome = |prefill, decode| {
            let position_bytes = self.model.position_bytes();
            let pools = Pools { prefill, decode, wire, position_bytes };
            disaggregated::run(&self.requests, &pools, &setup, &cost, VOCAB)
        };
        // Nothing of the second pool comes back to the first.
        let prompts = StepCost { decode_token: 0.0, decode_position: 0.0, ..cost };
        let first = fewest(self.least(&prompts), MOST, |prefill| {
            let run = disaggregated::prefill(&self.requests, prefill, &setup, &cost, VOCAB)?;
            let found = run.report.time_to_first_token.p99;
            Ok((found, found <= self.limit.first_token))
        })?;
        let Some((prefill, _)) = first else {
            return Ok(None);
        };
        let decodes = StepCost { prefill_token: 0.0, prefill_position: 0.0, ..cost };
        let second = fewest(self.least(&decodes), MOST, |decode| {
            let outcome = outcome(prefill, decode)?;
            let service = Service {
                first_token: outcome.time_to_first_token.p99,
                between_tokens: outcome.inter_token.p99.max(outcome.second_token.p99),
            };
            Ok((service, self.is_enough(&service)))
        })?;
        Ok(second.map(|(decode, service)| Need { gpus: Gpus::Apart { prefill, decode }, service }))
    }

    /// The batches below which not even the arithmetic keeps up, however large they are: an
    /// overloaded cluster need not be simulated.
    fn least(&self, cost: &StepCost) -> usize {
        let free = StepCost { fixed: 0.0, ..*cost };
        let busy: f64 = self.requests.iter().map(|request| free.alone(request)).sum();
        let seconds = self.requests.last().map_or(0.0, |request| request.arrival);
        ((busy / seconds) as usize).clamp(1, MOST)
    }

    fn is_enough(&self, service: &Service) -> bool {
        service.first_token <= self.limit.first_token
            && service.between_tokens <= self.limit.between_tokens
    }

    fn setup(&self, kv_cache: usize) -> Setup {
        let config = EngineConfig {
            policy: Policy::ChunkedPrefill,
            max_running: 512,
            max_admitted: usize::MAX,
            token_budget: self.token_budget,
            prefix_cache: false,
        };
        Setup { config, block_size: BLOCK, kv_cache }
    }
}

/// The smallest number from `least` to `most` that is enough, with what came of it. More is never
/// worse, but for chance: so it is searched by growing and then by halving.
fn fewest<T>(
    least: usize,
    most: usize,
    test: impl Fn(usize) -> Result<(T, bool)>,
) -> Result<Option<(usize, T)>> {
    let (mut too_few, mut enough) = (least - 1, least);
    let mut found = loop {
        if too_few >= most {
            return Ok(None);
        }
        let (outcome, is_enough) = test(enough)?;
        if is_enough {
            break outcome;
        }
        too_few = enough;
        enough = most.min(enough + (enough / 3).max(1));
    };
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        let (outcome, is_enough) = test(middle)?;
        if is_enough {
            (enough, found) = (middle, outcome);
        } else {
            too_few = middle;
        }
    }
    Ok(Some((enough, found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(model: Shape, rate: f64) -> Plan {
        let traffic = super::super::traffic::tests::traffic(400);
        Plan {
            model: model.model(),
            requests: traffic.requests().unwrap().at_rate(rate).unwrap().list,
            limit: Service { first_token: 0.5, between_tokens: 0.1 },
            token_budget: 1024,
        }
    }

    #[test]
    fn the_fewest_are_found() {
        for expected in 1..=40 {
            let found = fewest(1, 40, |count| Ok((count, count >= expected))).unwrap();
            assert_eq!(found, Some((expected, expected)));
        }
        assert_eq!(fewest(3, 60, |count| Ok((count, count >= 2))).unwrap(), Some((3, 3)));
        assert_eq!(fewest(1, 40, |count| Ok((count, false))).unwrap(), None);
    }

    #[test]
    fn more_users_take_more_gpus_and_a_large_model_takes_several_for_one() {
        let gpus = |rate| {
            let need = plan(Shape::Llama8b, rate).together(Layout::Whole, None).unwrap();
            need.unwrap().gpus.total()
        };
        let (few, many) = (gpus(20.0), gpus(80.0));
        assert!(few >= 1 && many > 2 * few, "{few} {many}");
        let large = plan(Shape::Llama70b, 5.0);
        assert_eq!(large.together(Layout::Whole, None).unwrap(), None);
        let wire = Some(Interconnect::NVLINK);
        let need = large.together(Layout::Tensor(4), wire).unwrap().unwrap();
        assert!(need.gpus.total().is_multiple_of(4), "{}", need.gpus);
    }

    #[test]
    fn a_slow_wire_makes_the_second_token_late() {
        let plan = plan(Shape::Llama8b, 20.0);
        assert!(plan.apart(Interconnect::INFINIBAND).unwrap().is_some());
        // 150 MB of keys and values, at 1.25 GB/s.
        assert_eq!(plan.apart(Interconnect::ETHERNET_10).unwrap(), None);
    }
}
