//! Prefill and decode on separate machines.

use anyhow::Result;
use slowburn::engine::EngineConfig;

use super::cost::StepCost;
use super::layout::Interconnect;
use super::percentiles::{Percentiles, sorted};
use super::request::Request;
use super::router::Route;
use super::run::{Run, routed};
use super::setup::Setup;

/// The machines, and the wire between them.
#[derive(Debug, Clone, Copy)]
pub struct Pools {
    pub prefill: usize,
    pub decode: usize,
    pub wire: Interconnect,
    /// The bytes of the keys and values of a position.
    pub position_bytes: f64,
}

/// What users notice. Times are in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub time_to_first_token: Percentiles,
    /// Between the first token and the second, which the keys and values have to travel for.
    pub second_token: Percentiles,
    pub inter_token: Percentiles,
}

/// Serves `requests`: the first pool reads the prompts and writes the first tokens, the keys and
/// values are sent to the second, and that one writes the rest.
///
/// Nothing comes back, so the pools are simulated one after the other. For the second, a prompt is
/// what has arrived over the wire: it costs memory, and no arithmetic.
pub fn run(
    requests: &[Request],
    pools: &Pools,
    setup: &Setup,
    cost: &StepCost,
    vocab: usize,
) -> Result<Outcome> {
    let first = prefill(requests, pools.prefill, setup, cost, vocab)?;
    let mut rest = Vec::new();
    for (request, written) in requests.iter().zip(first.first_tokens) {
        let Some(written) = written else {
            continue;
        };
        if request.output < 2 {
            continue;
        }
        let bytes = request.prompt as f64 * pools.position_bytes;
        // The first token is part of what the second pool begins with.
        let request = Request {
            arrival: written + pools.wire.seconds(bytes),
            prompt: request.prompt + 1,
            output: request.output - 1,
            shared: 0,
            ..*request
        };
        rest.push((written, request));
    }
    rest.sort_by(|(_, a), (_, b)| a.arrival.total_cmp(&b.arrival));
    // The scheduler of a run knows requests by their numbers.
    let rest = rest.into_iter().enumerate();
    let (written, rest): (Vec<f64>, Vec<Request>) =
        rest.map(|(index, (written, request))| (written, Request { index, ..request })).unzip();
    let free = StepCost { prefill_token: 0.0, prefill_position: 0.0, ..*cost };
    // Nothing that arrives has to be cut into chunks.
    let config = EngineConfig { token_budget: usize::MAX, ..setup.config };
    let whole = Setup { config, ..*setup };
    let second = routed(&rest, (pools.decode, Route::LeastLoaded), &whole, &free, vocab)?;
    let waits = written.iter().zip(second.first_tokens);
    let waits = waits.filter_map(|(first, second)| Some(second? - first));
    Ok(Outcome {
        time_to_first_token: first.report.time_to_first_token,
        second_token: Percentiles::of(&sorted(waits.collect())),
        inter_token: second.report.inter_token,
    })
}

/// What the first pool does: the prompts, and the first tokens.
pub fn prefill(
    requests: &[Request],
    replicas: usize,
    setup: &Setup,
    cost: &StepCost,
    vocab: usize,
) -> Result<Run> {
    let prompts: Vec<Request> =
        requests.iter().map(|request| Request { output: 1, ..*request }).collect();
    routed(&prompts, (replicas, Route::LeastLoaded), setup, cost, vocab)
}

#[cfg(test)]
mod tests {
    use slowburn::engine::{EngineConfig, Policy};

    use super::super::cost::tests::cost;
    use super::super::traffic::Traffic;
    use super::super::traffic::tests::traffic;
    use super::*;

    fn setup() -> Setup {
        let config = EngineConfig {
            policy: Policy::ChunkedPrefill,
            max_running: 32,
            max_admitted: usize::MAX,
            token_budget: 4096,
            prefix_cache: false,
        };
        Setup { config, block_size: 32, kv_cache: 100_000 }
    }

    fn outcome(bandwidth: f64) -> (Outcome, Vec<Request>) {
        let traffic = Traffic { scale: 0.25, context: 2048, ..traffic(300) };
        let requests = traffic.requests().unwrap().at_rate(8.0).unwrap().list;
        let wire = Interconnect { name: "", bandwidth, latency: 1e-3 };
        let pools = Pools { prefill: 1, decode: 1, wire, position_bytes: 1000.0 };
        (run(&requests, &pools, &setup(), &cost(), 1000).unwrap(), requests)
    }

    #[test]
    fn decodes_are_hardly_delayed_and_the_second_token_by_the_wire() {
        let (fast, requests) = outcome(1e12);
        let together = routed(&requests, (2, Route::LeastLoaded), &setup(), &cost(), 1000).unwrap();
        let (apart, mixed) = (fast.inter_token.p99, together.report.inter_token.p99);
        // As long as together, where chunks bound what a prompt delays, in batches of all decodes.
        assert!(apart < 1.1 * mixed, "{apart} {mixed}");
        // A quarter of 1155 tokens on average, of 1000 bytes each: about a third of a second.
        let (slow, _) = outcome(1e6);
        assert!(slow.second_token.p50 > fast.second_token.p50 + 0.1);
        assert_eq!(slow.time_to_first_token, fast.time_to_first_token);
    }
}
