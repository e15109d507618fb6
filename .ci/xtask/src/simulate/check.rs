//! The prediction beside the measurement: the same requests in virtual and in real time.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use slowburn::engine::{Chunk, Engine, Outcome};
use slowburn::model::Model;

use super::fit::Sample;
use super::recorder::Recorder;
use super::report::{Counts, Report};
use super::request::Request;
use super::setup::Setup;
use super::table::{Table, time};
use super::work::Work;

/// How long the requests of each policy keep arriving: a policy that keeps up takes little longer.
pub const SECONDS: f64 = 6.0;

/// Serves `requests` with the engine of the library, each when it arrives.
pub fn serve(model: &Model, requests: &[Request], setup: &Setup) -> Result<Report> {
    let Recorded { recorder, counts, .. } = record(model, requests, setup)?;
    Ok(Report::new(setup, requests.len(), recorder, &counts))
}

/// What came out of a run in real time.
pub struct Recorded {
    pub recorder: Recorder,
    pub counts: Counts,
    /// Its steps, as long as they took among arrivals and pauses.
    pub steps: Vec<Sample>,
}

/// As [`serve`], without the report.
pub fn record(model: &Model, requests: &[Request], setup: &Setup) -> Result<Recorded> {
    ensure!(
        setup.blocks() == model.kv_pool().max_blocks(),
        "the model has {} blocks in place of {}",
        model.kv_pool().max_blocks(),
        setup.blocks()
    );
    let vocab = model.config().vocab_size;
    // Nothing but waiting for the next arrival happens between steps.
    let prompts: Vec<Vec<u32>> = requests.iter().map(|request| request.prompt_ids(vocab)).collect();
    let mut engine = Engine::new(model, setup.config);
    let mut recorded = Recorded {
        recorder: Recorder::new(requests.len()),
        counts: Counts::default(),
        steps: Vec::new(),
    };
    // The requests in the order of the ids that the engine gave them.
    let mut accepted = Vec::new();
    let mut coming = requests.iter().peekable();
    let start = Instant::now();
    loop {
        let now = start.elapsed().as_secs_f64();
        while let Some(request) = coming.next_if(|request| request.arrival <= now) {
            match engine.arrive(&prompts[request.index], request.output, usize::MAX, false) {
                Ok(_) => {
                    recorded.counts.prompt_tokens += request.prompt;
                    accepted.push(request);
                }
                Err(_) => recorded.counts.refused += 1,
            }
        }
        if engine.scheduler().is_empty() {
            let Some(request) = coming.peek() else {
                break;
            };
            let wait = request.arrival - start.elapsed().as_secs_f64();
            thread::sleep(Duration::from_secs_f64(wait.max(0.0)));
            continue;
        }
        recorded.step(&mut engine, &accepted, start)?;
    }
    recorded.counts.prefix = engine.scheduler().blocks().prefix_stats();
    Ok(recorded)
}

impl Recorded {
    /// Takes a step of a run that began at `start`: its tokens come out, and requests with all of theirs
    /// leave.
    fn step(
        &mut self,
        engine: &mut Engine<'_>,
        accepted: &[&Request],
        start: Instant,
    ) -> Result<()> {
        let began = start.elapsed().as_secs_f64();
        let (plan, outcomes) = engine.step();
        let now = start.elapsed().as_secs_f64();
        let prompt = |chunk: &Chunk| accepted.get(chunk.id.0 as usize).map_or(0, |of| of.prompt);
        self.steps.push(Sample { work: Work::of(&plan.chunks, prompt), seconds: now - began });
        ensure!(!plan.chunks.is_empty(), "the engine does nothing for the requests it has");
        let counts = &mut self.counts;
        counts.steps += 1;
        counts.peak_blocks = counts.peak_blocks.max(engine.scheduler().blocks().owned());
        let vocab = engine.model().config().vocab_size;
        for (id, outcome) in outcomes {
            let request = accepted.get(id.0 as usize).context("an outcome of no request")?;
            match outcome {
                Outcome::Failed(error) => bail!(error),
                Outcome::PromptLogits { .. } | Outcome::Checked { .. } => {}
                Outcome::Logits(_) | Outcome::MostLikely(_) => {
                    let tokens = self.recorder.token(request, now);
                    if tokens < request.output {
                        engine.push(id, request.output_id(tokens, vocab));
                    } else {
                        counts.leave(&engine.scheduler(), id);
                        engine.leave(id);
                    }
                }
            }
        }
        Ok(())
    }
}

/// A table of predictions and measurements.
pub fn table(first: &str, pairs: &[(String, Report, Report)]) -> String {
    let mut table = Table::new(2, [first, "", "predicted", "measured", "difference"]);
    for (label, predicted, measured) in pairs {
        for (n, (name, value, format)) in QUANTITIES.iter().enumerate() {
            let [predicted, measured] = [predicted, measured].map(value);
            table.row([
                if n == 0 { label.clone() } else { String::new() },
                (*name).to_owned(),
                format(predicted),
                format(measured),
                difference(predicted, measured),
            ]);
        }
    }
    table.text()
}

/// The name of a quantity, its value, and its form.
type Quantity = (&'static str, fn(&Report) -> f64, fn(f64) -> String);

const QUANTITIES: [Quantity; 5] = [
    ("TTFT, median", |report| report.time_to_first_token.p50, time),
    ("TTFT, p99", |report| report.time_to_first_token.p99, time),
    ("between tokens, median", |report| report.inter_token.p50, time),
    ("between tokens, p99", |report| report.inter_token.p99, time),
    ("throughput, tokens/s", |report| report.throughput, |rate| format!("{rate:.0}")),
];

/// By how many percent the prediction is above or below the measurement.
fn difference(predicted: f64, measured: f64) -> String {
    if predicted.is_nan() || measured.is_nan() {
        return "–".to_owned();
    }
    format!("{:+.0} %", 100.0 * (predicted / measured - 1.0))
}

#[cfg(test)]
mod tests {
    use slowburn::device::Precision;
    use slowburn::engine::{EngineConfig, Policy};

    use super::*;
    use crate::bench::Ours;
    use crate::simulate::cost::tests::cost;
    use crate::simulate::run::run;

    /// Which tokens are computed does not depend on time where all arrive at once.
    #[test]
    fn the_engine_takes_the_steps_of_the_simulation() {
        let model = Ours::load(None, Precision::F32, 1).unwrap().model;
        let block_size = slowburn::kernels::BLOCK;
        let bytes = 20 * model.kv_pool().block_bytes();
        let model = model.with_kv_cache_bytes(bytes);
        let requests: Vec<Request> = (0..12)
            .map(|index| Request {
                prompt: 40 + 7 * index,
                shared: 32,
                output: 1 + 3 * index,
                seed: 1,
                index,
                ..Request::default()
            })
            .collect();
        for policy in Policy::ALL {
            let config = EngineConfig {
                policy,
                max_running: 8,
                token_budget: 50,
                prefix_cache: true,
                ..EngineConfig::default()
            };
            let setup = Setup { config, block_size, kv_cache: 20 * block_size };
            let vocab = model.config().vocab_size;
            let predicted = run(&requests, &setup, &cost(), vocab).unwrap();
            let measured = serve(&model, &requests, &setup).unwrap();
            let counts = |report: &Report| {
                [
                    report.finished,
                    report.steps,
                    report.output_tokens,
                    report.cached_tokens,
                    report.preemptions,
                    report.peak_blocks,
                ]
            };
            assert_eq!(counts(&predicted), counts(&measured), "{policy}");
        }
    }

    #[test]
    fn a_difference_is_in_percent_of_the_measurement() {
        assert_eq!(difference(1.1, 1.0), "+10 %");
        assert_eq!(difference(0.5, 1.0), "-50 %");
        assert_eq!(difference(f64::NAN, 1.0), "–");
    }
}
