//! Steps of a model, measured.

use std::collections::HashMap;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use slowburn::engine::{Engine, EngineConfig, Outcome, Policy, SequenceId};
use slowburn::model::Model;

use super::fit::Sample;
use super::request::Request;
use super::work::Work;
use crate::bench::median;

/// How many sequences decode at once.
const DECODES: [usize; 7] = [0, 1, 2, 4, 8, 16, MOST_DECODES];
const MOST_DECODES: usize = 24;
/// Prompt tokens that are read beside them.
const CHUNKS: [usize; 4] = [16, 64, 128, LONGEST_CHUNK];
const LONGEST_CHUNK: usize = 256;
/// Decodes without a prompt beside them, for each of [`DECODES`].
const STEPS: usize = 4;
/// How often each step is measured, after once that is not counted. The median counts.
const ROUNDS: usize = 5;
/// No more positions are in front of a decode: other lengths follow from these.
const LONGEST: usize = 512;

/// Runs steps of many sizes through an [`Engine`], and measures each.
pub fn samples(model: &Model) -> Result<Vec<Sample>> {
    let context = model.config().context_length;
    // A sequence decodes once in each step of its engine, and a prompt takes two steps at most.
    let room = 2 * MOST_DECODES + DECODES.len() * (STEPS + CHUNKS.len());
    ensure!(
        context > 2 * room,
        "a context of {context} is too short to measure steps; give --cost"
    );
    let longest = LONGEST.min(context - room);
    let lengths = [16, longest / 2, longest];
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let mut samples = Vec::new();
        for length in lengths {
            Schedule::new(model).run(length, &mut samples)?;
        }
        if round > 0 {
            rounds.push(samples);
        }
    }
    // The steps of all rounds are the same, only their times differ.
    let seconds =
        |step: usize| median(rounds.iter().map(|samples: &Vec<Sample>| samples[step].seconds));
    let first = rounds.first().into_iter().flatten();
    Ok(first
        .enumerate()
        .map(|(step, sample)| Sample { seconds: seconds(step), ..*sample })
        .collect())
}

/// An engine whose steps are measured.
struct Schedule<'m> {
    engine: Engine<'m>,
    vocab: usize,
    context: usize,
    /// The prompt lengths of all sequences.
    prompts: HashMap<SequenceId, usize>,
}

impl<'m> Schedule<'m> {
    fn new(model: &'m Model) -> Self {
        let config = EngineConfig {
            policy: Policy::ChunkedPrefill,
            max_running: usize::MAX,
            token_budget: LONGEST_CHUNK + MOST_DECODES,
            prefix_cache: true,
            ..EngineConfig::default()
        };
        Self {
            engine: Engine::new(model, config),
            vocab: model.config().vocab_size,
            context: model.config().context_length,
            prompts: HashMap::new(),
        }
    }

    /// More and more sequences with prompts of `length` tokens, and chunks of other prompts between
    /// their decodes.
    fn run(&mut self, length: usize, samples: &mut Vec<Sample>) -> Result<()> {
        let mut decoding = 0;
        for decodes in DECODES {
            while decoding < decodes {
                self.arrive(length)?;
                decoding += 1;
                // A long prompt takes several steps.
                for _ in 0..length.div_ceil(LONGEST_CHUNK) {
                    self.step(samples)?;
                }
            }
            for _ in 0..STEPS {
                self.step(samples)?;
            }
            for chunk in CHUNKS {
                let id = self.arrive(chunk)?;
                self.step(samples)?;
                self.engine.leave(id);
            }
        }
        Ok(())
    }

    fn arrive(&mut self, prompt: usize) -> Result<SequenceId> {
        let request = Request {
            prompt,
            output: 1,
            index: self.prompts.len(),
            ..Request::default()
        };
        let ids = request.prompt_ids(self.vocab);
        let id = self.engine.arrive(&ids, self.context - prompt, usize::MAX, false)?;
        self.prompts.insert(id, prompt);
        Ok(id)
    }

    fn step(&mut self, samples: &mut Vec<Sample>) -> Result<()> {
        let start = Instant::now();
        let (plan, outcomes) = self.engine.step();
        let seconds = start.elapsed().as_secs_f64();
        for (id, outcome) in outcomes {
            match outcome {
                Outcome::Logits(_) | Outcome::MostLikely(_) => self.engine.push(id, 0),
                Outcome::PromptLogits { .. } | Outcome::Checked { .. } => {}
                Outcome::Failed(error) => bail!(error),
            }
        }
        let prompts = &self.prompts;
        let work = Work::of(&plan.chunks, |chunk| prompts.get(&chunk.id).copied().unwrap_or(0));
        if work != Work::default() {
            samples.push(Sample { work, seconds });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use slowburn::device::Precision;

    use super::*;
    use crate::bench::Ours;

    #[test]
    fn the_steps_of_a_round_are_of_many_sizes() {
        let model = Ours::load(None, Precision::F32, 1).unwrap().model;
        let mut samples = Vec::new();
        Schedule::new(&model).run(16, &mut samples).unwrap();
        let mut again = Vec::new();
        Schedule::new(&model).run(16, &mut again).unwrap();
        assert_eq!(samples.len(), again.len());
        assert!(samples.iter().zip(&again).all(|(a, b)| a.work == b.work));
        assert!(samples.iter().all(|sample| sample.seconds > 0.0));
        let has = |prefill, decode| {
            samples
                .iter()
                .any(|Sample { work, .. }| (work.prefill, work.decode) == (prefill, decode))
        };
        for decode in DECODES.map(|decodes| decodes as u64) {
            assert!(decode == 0 || has(0, decode), "{decode}");
            for prefill in CHUNKS.map(|chunk| chunk as u64) {
                assert!(has(prefill, decode), "{prefill} {decode}");
            }
        }
    }
}
