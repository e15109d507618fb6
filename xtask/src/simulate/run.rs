//! A run of the scheduler in virtual time.

use anyhow::{Result, bail};
use slowburn::engine::{Event, SequenceId};
use slowburn::model::Logits;

use super::cost::StepCost;
use super::recorder::Recorder;
use super::report::{Counts, Report};
use super::request::Request;
use super::setup::Setup;
use super::work::Work;

/// Serves `requests`, in order of arrival, with the scheduler of the library. Only time is
/// simulated: a step takes what `cost` says, and its tokens come out at its end.
pub fn run(requests: &[Request], setup: &Setup, cost: &StepCost, vocab: usize) -> Result<Report> {
    let mut scheduler = setup.scheduler();
    let mut recorder = Recorder::new(requests.len());
    let mut counts = Counts::default();
    let mut coming = requests.iter().peekable();
    let mut now = 0.0;
    loop {
        while let Some(request) = coming.next_if(|request| request.arrival <= now) {
            let arrive = Event::Arrive {
                id: SequenceId(request.index as u64),
                prompt: request.prompt_ids(vocab),
                max_tokens: request.output,
                chunk: usize::MAX,
                prompt_logits: false,
            };
            // Refused: it would not fit, whatever else runs.
            match scheduler.handle(arrive) {
                Ok(()) => counts.prompt_tokens += request.prompt,
                Err(_) => counts.refused += 1,
            }
        }
        let plan = scheduler.plan();
        if plan.chunks.is_empty() {
            match coming.peek() {
                // Nothing to do until the next arrival.
                Some(request) => now = request.arrival,
                None if scheduler.is_empty() => break,
                None => bail!("the scheduler plans nothing for {} requests", scheduler.len()),
            }
            continue;
        }
        let request = |id: SequenceId| &requests[id.0 as usize];
        now += cost.of(&Work::of(&plan.chunks, |chunk| request(chunk.id).prompt));
        counts.steps += 1;
        counts.peak_blocks = counts.peak_blocks.max(scheduler.blocks().owned());
        scheduler.complete(&plan.chunks);
        for chunk in plan.chunks.iter().filter(|chunk| chunk.logits == Logits::Last) {
            let (id, request) = (chunk.id, request(chunk.id));
            let tokens = recorder.token(request, now);
            if tokens < request.output {
                let token = request.output_id(tokens, vocab);
                scheduler.handle(Event::Token { id, token })?;
            } else {
                counts.leave(&scheduler, id);
                scheduler.handle(Event::Leave { id })?;
            }
        }
    }
    counts.prefix = scheduler.blocks().prefix_stats();
    Ok(Report::new(setup, requests.len(), recorder, &counts))
}

#[cfg(test)]
mod tests {
    use slowburn::engine::{EngineConfig, Policy};

    use super::super::cost::tests::cost;
    use super::super::traffic::Traffic;
    use super::super::traffic::tests::traffic;
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
            shared: 0,
            output: 3,
            seed: 1,
            index: 0,
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
}
