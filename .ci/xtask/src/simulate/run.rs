//! The simulation: requests arrive at replicas, and schedulers plan steps, in virtual time.

use anyhow::{Result, bail, ensure};

use super::cost::StepCost;
use super::recorder::Recorder;
use super::replica::Replica;
use super::report::{Counts, Report};
use super::request::Request;
use super::router::{Route, Router};
use super::setup::Setup;

/// The seed of routers that choose at random.
const SEED: u64 = 1;

/// What came out of several replicas.
pub struct Run {
    pub report: Report,
    /// When each request had its first token, by its index; none for one that was refused.
    pub first_tokens: Vec<Option<f64>>,
    /// The tokens of the busiest replica over the mean.
    pub busiest: f64,
    /// The replica of each request, by its index.
    pub chosen: Vec<usize>,
}

/// Serves `requests`, in order of arrival, with the scheduler of the library. Only time is
/// simulated: a step takes what `cost` says, and its tokens come out at its end.
pub fn run(requests: &[Request], setup: &Setup, cost: &StepCost, vocab: usize) -> Result<Report> {
    Ok(routed(requests, (1, Route::RoundRobin), setup, cost, vocab)?.report)
}

/// The same with several replicas, among which a router chooses.
pub fn routed(
    requests: &[Request],
    (count, route): (usize, Route),
    setup: &Setup,
    cost: &StepCost,
    vocab: usize,
) -> Result<Run> {
    ensure!(count >= 1, "a router has a replica at least");
    let mut replicas: Vec<Replica> = (0..count).map(|_| Replica::new(setup)).collect();
    let mut router = Router::new(route, SEED);
    let mut recorder = Recorder::new(requests.len());
    let mut chosen = Vec::with_capacity(requests.len());
    let mut coming = requests.iter().peekable();
    loop {
        // The next thing that happens: a step ends, or a request arrives.
        let ends = replicas.iter().filter_map(Replica::end);
        let arrival = coming.peek().map(|request| request.arrival);
        let Some(now) = ends.chain(arrival).reduce(f64::min) else {
            break;
        };
        for replica in &mut replicas {
            replica.finish(now, requests, vocab, &mut recorder)?;
        }
        while let Some(request) = coming.next_if(|request| request.arrival <= now) {
            let open: Vec<usize> = replicas.iter().map(|replica| replica.open).collect();
            let replica = router.choose(request, &open);
            chosen.push(replica);
            replicas[replica].arrive(request, vocab);
        }
        for replica in &mut replicas {
            replica.start(now, cost, requests);
        }
    }
    let left: usize = replicas.iter().map(Replica::len).sum();
    if left > 0 {
        bail!("the scheduler plans nothing for {left} requests");
    }
    let tokens: Vec<usize> = replicas.iter().map(|replica| replica.tokens).collect();
    let most = tokens.iter().max().copied().unwrap_or(0) as f64;
    let busiest = most * count as f64 / (tokens.iter().sum::<usize>() as f64).max(1.0);
    let counts =
        replicas.into_iter().map(Replica::into_counts).fold(Counts::default(), Counts::add);
    let first_tokens = recorder.first_tokens();
    Ok(Run {
        report: Report::new(setup, requests.len(), recorder, &counts),
        first_tokens,
        busiest,
        chosen,
    })
}

#[cfg(test)]
mod tests {
    use slowburn::engine::{EngineConfig, Policy};

    use super::super::cost::tests::cost;
    use super::super::traffic::Traffic;
    use super::super::traffic::tests::traffic;
    use super::super::work::Work;
    use super::*;

    /// As many as fit are running, 300 positions for each on average.
    fn setup(policy: Policy, prefix_cache: bool) -> Setup {
        let config = EngineConfig {
            policy,
            max_running: 32,
            max_admitted: usize::MAX,
            token_budget: 256,
            prefix_cache,
        };
        Setup { config, block_size: 32, kv_cache: 10_000 }
    }

    fn requests(count: usize, rate: f64) -> Vec<Request> {
        let traffic = Traffic { scale: 0.25, context: 2048, ..traffic(count) };
        traffic.requests().unwrap().at_rate(rate).unwrap().list
    }

    fn report(requests: &[Request], policy: Policy, prefix_cache: bool) -> Report {
        run(requests, &setup(policy, prefix_cache), &cost(), 1000).unwrap()
    }

    #[test]
    fn every_request_finishes_and_every_token_counts() {
        let requests = requests(300, 20.0);
        let expected: usize = requests.iter().map(|request| request.output).sum();
        for policy in Policy::ALL {
            for prefix_cache in [false, true] {
                let report = report(&requests, policy, prefix_cache);
                assert_eq!((report.finished, report.refused), (300, 0), "{policy}");
                assert_eq!(report.output_tokens, expected, "{policy}");
                assert!(report.peak_blocks <= report.kv_blocks, "{policy}");
            }
        }
        // That is also so where memory is short.
        let setup = Setup { kv_cache: 2100, ..setup(Policy::ChunkedPrefill, false) };
        let report = run(&requests, &setup, &cost(), 1000).unwrap();
        assert_eq!((report.finished, report.output_tokens), (300, expected));
        assert!(report.preemptions > 0, "{}", report.peak_blocks);
        assert!((60..=65).contains(&report.peak_blocks), "{}", report.peak_blocks);
    }

    #[test]
    fn the_same_requests_give_the_same_report() {
        let requests = requests(200, 20.0);
        for policy in Policy::ALL {
            assert_eq!(report(&requests, policy, true), report(&requests, policy, true));
        }
    }

    /// One request of 1000 prompt tokens and 3 new ones.
    fn single() -> Request {
        Request {
            arrival: 5.0,
            prompt: 1000,
            output: 3,
            seed: 1,
            ..Request::default()
        }
    }

    #[test]
    fn the_first_token_of_a_request_alone_takes_the_cost_of_its_prefill() {
        let whole = cost().of(&Work::prompt(1000));
        let chunks = [0, 256, 512, 768].map(|start: usize| {
            let mut work = Work::default();
            work.add(start, 256.min(1000 - start), 1000);
            cost().of(&work)
        });
        for policy in Policy::ALL {
            let expected = match policy {
                Policy::ChunkedPrefill => chunks.iter().sum(),
                _ => whole,
            };
            let report = report(&[single()], policy, true);
            assert!((report.time_to_first_token.p50 - expected).abs() < 1e-9, "{policy}");
            let mut decode = Work::default();
            decode.add(1000, 1, 1000);
            // The second token attends to one more.
            assert!((report.inter_token.p50 - cost().of(&decode)).abs() < 1e-9, "{policy}");
            assert_eq!(report.output_tokens, 3);
            assert!(report.end_to_end.p50 > report.time_to_first_token.p50);
        }
    }

    #[test]
    fn what_can_never_fit_is_refused_and_the_others_finish() {
        let requests = [single(), Request { prompt: 100, index: 1, ..single() }];
        let setup = Setup { kv_cache: 512, ..setup(Policy::ChunkedPrefill, true) };
        let report = run(&requests, &setup, &cost(), 1000).unwrap();
        assert_eq!((report.finished, report.refused, report.output_tokens), (1, 1, 3));
    }

    #[test]
    fn chunks_keep_long_prompts_from_delaying_the_decodes_of_others() {
        let requests = requests(400, 15.0);
        let [one, fixed, continuous, chunked] =
            Policy::ALL.map(|policy| report(&requests, policy, false));
        assert!(chunked.inter_token.p99 < 0.7 * continuous.inter_token.p99);
        // Joining at any step beats waiting for the batch, and that beats one at a time.
        assert!(continuous.time_to_first_token.p50 < fixed.time_to_first_token.p50);
        assert!(fixed.time_to_first_token.p50 < one.time_to_first_token.p50);
        assert!(one.throughput < fixed.throughput);
    }

    #[test]
    fn a_system_prompt_is_computed_once() {
        let traffic = Traffic { scale: 0.1, shared_prompt: 640, ..traffic(200) };
        let requests = traffic.requests().unwrap().at_rate(10.0).unwrap().list;
        let [without, with] =
            [false, true].map(|cache| report(&requests, Policy::ChunkedPrefill, cache));
        assert_eq!(without.cached_tokens, 0);
        // 20 blocks, for all but the first.
        assert!(with.cached_tokens >= 199 * 640, "{}", with.cached_tokens);
        assert!(with.time_to_first_token.p50 < 0.7 * without.time_to_first_token.p50);
        assert!(with.peak_blocks < without.peak_blocks);
    }

    #[test]
    fn without_the_prefix_cache_a_system_prompt_is_like_any_other_tokens() {
        let traffic = Traffic { scale: 0.1, shared_prompt: 320, ..traffic(200) };
        let shared = traffic.requests().unwrap().at_rate(12.0).unwrap().list;
        let own: Vec<Request> =
            shared.iter().map(|request| Request { shared: 0, ..*request }).collect();
        for policy in Policy::ALL {
            assert_eq!(report(&shared, policy, false), report(&own, policy, false), "{policy}");
        }
    }

    #[test]
    fn replicas_share_the_load_and_lose_no_request() {
        let requests = requests(400, 30.0);
        let expected: usize = requests.iter().map(|request| request.output).sum();
        let setup = setup(Policy::ChunkedPrefill, true);
        let routed = |count, route| routed(&requests, (count, route), &setup, &cost(), 1000);
        let one = routed(1, Route::RoundRobin).unwrap();
        for route in Route::ALL {
            let four = routed(4, route).unwrap();
            assert_eq!((four.report.finished, four.report.output_tokens), (400, expected));
            let ratio = four.report.time_to_first_token.p99 / one.report.time_to_first_token.p99;
            assert!(ratio < 0.5, "{route}: {ratio}");
            assert!((1.0..2.0).contains(&four.busiest), "{route}: {}", four.busiest);
        }
        assert_eq!(one.busiest, 1.0);
        // With nothing in common, what is known of the loads decides.
        let [random, least] = [Route::Random, Route::LeastLoaded]
            .map(|route| routed(4, route).unwrap().report.time_to_first_token.p99);
        assert!(least < random, "{least} {random}");
    }

    #[test]
    fn a_router_that_knows_the_prefixes_computes_each_of_them_once() {
        let traffic = Traffic { scale: 0.1, shared_prompt: 640, prefixes: 16, ..traffic(400) };
        let requests = traffic.requests().unwrap().at_rate(20.0).unwrap().list;
        // Few of the prefixes fit into one replica.
        let setup = Setup { kv_cache: 8000, ..setup(Policy::ChunkedPrefill, true) };
        let share = |route| {
            let run = routed(&requests, (4, route), &setup, &cost(), 1000).unwrap();
            run.report.cached_share()
        };
        let [robin, hash, aware] =
            [Route::RoundRobin, Route::PrefixHash, Route::CacheAware].map(share);
        assert!(hash > robin + 0.1 && aware > robin + 0.1, "{robin} {hash} {aware}");
    }
}
